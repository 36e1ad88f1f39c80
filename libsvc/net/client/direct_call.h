#pragma once
// An HTTP call over a connection of its own, without cpp-httplib: for the statically linked agent, and for
// what cpp-httplib cannot do (proxies, a server that answers before it has read the whole request, the
// handshake of a WebSocket, trailers behind a reply). Everybody else uses HttpClient (client.h).
#include "libsvc/net/client/client_channel.h"
#include "libsvc/net/http/client_message.h"
#include "libsvc/net/socket/input_buffer.h"

namespace svc {

// Connects, calls, disconnects. Blocks. Throws unavailable when the server cannot be reached, presents
// another certificate than the pinned one, or breaks off its reply. What source and sink throw passes
// through.
ClientReply call_directly(const Target& target, const ClientRequest& request);

namespace net {

// The first line and the header of a request.
std::string request_head(const ClientChannel& channel, const ClientRequest& request);

// The same over a connection that is there. Reads the reply up to its end, after a 101 up to the end of its
// header; bytes that follow it stay in `in`. When a server answers before it has read all of a streamed body,
// the rest is not sent.
ClientReply exchange(ClientChannel& channel, const ClientRequest& request, InputBuffer& in);

}  // namespace net

}  // namespace svc
