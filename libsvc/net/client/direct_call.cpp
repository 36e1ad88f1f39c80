#include "libsvc/net/client/direct_call.h"

#include "libsvc/net/client/client_exchange.h"

namespace svc {

ClientReply call_directly(const Target& target, const ClientRequest& request) {
    net::ClientChannel channel(target, request.timeout);
    net::InputBuffer in;
    return net::exchange(channel, request, in);
}

}  // namespace svc
