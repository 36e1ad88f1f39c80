#pragma once
// The gateway's keys and certificates, and the TLS settings made of them.
#include <memory>

#include "libsvc/base/clock.h"
#include "server/gateway/options.h"
#include "server/gateway/state_directory.h"

namespace svc::gateway {

// The TLS server name that instances ask for. They get the fingerprint of its certificate at launch and
// verify it whenever they reconnect, so this certificate stays when the one for browsers is replaced.
inline constexpr const char* instance_identity = "instances.svc-gateway.internal";

// Those in the state directory that are absent: secret of tokens, certificates for browsers and instances.
void make_key_files(const StateDirectory& state, const Clock& clock);

// For browsers the certificate of the options, where they name one; makes what is absent.
std::shared_ptr<TlsContext> make_tls(const Options& options, const StateDirectory& state, const Clock& clock);
// Towards other gateways.
std::shared_ptr<TlsContext> make_gateways_tls(const StateDirectory& state);

}  // namespace svc::gateway
