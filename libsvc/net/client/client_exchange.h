#pragma once
// Internal to this folder: one HTTP call over a ClientChannel.
#include "libsvc/net/client/client.h"
#include "libsvc/net/client/client_channel.h"
#include "libsvc/net/socket/input_buffer.h"

namespace svc::net {

// Sends `request` and reads the response up to its end; after a 101 up to the header's end. What came after
// it stays in `in`. A server that answers before it has read all of a streamed body is listened to, and the
// rest is not sent. Throws unavailable; what source and sink throw passes through.
ClientReply exchange(ClientChannel& channel, const ClientRequest& request, InputBuffer& in);

}  // namespace svc::net
