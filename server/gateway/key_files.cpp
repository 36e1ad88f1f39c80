#include "server/gateway/key_files.h"

#include "libsvc/streaming/tokens.h"
#include "server/gateway/addresses.h"

namespace svc::gateway {

namespace {

void make_server_keys(const StateDirectory& state, const Clock& clock) {
    std::vector<std::string> addresses = machine_addresses();
    addresses.insert(addresses.begin(), {"127.0.0.1", "::1"});
    ensure_key_pair(state.server_keys(), host_name(), {host_name(), "localhost"}, addresses, clock);
}

void make_instance_keys(const StateDirectory& state, const Clock& clock) {
    ensure_key_pair(state.instance_keys(), instance_identity, {instance_identity}, {}, clock);
}

}  // namespace

void make_key_files(const StateDirectory& state, const Clock& clock) {
    make_server_keys(state, clock);
    make_instance_keys(state, clock);
    TokenMint::load_secret(state.token_secret().string());
}

std::shared_ptr<TlsContext> make_tls(const Options& options, const StateDirectory& state,
                                     const Clock& clock) {
    KeyPair files{options.tls_certificate, options.tls_key};
    if (files.certificate.empty()) {
        files = state.server_keys();
        make_server_keys(state, clock);
    }
    make_instance_keys(state, clock);
    const NamedIdentity for_instances{instance_identity, state.instance_keys()};
    return std::make_shared<TlsContext>(files, options.tls12 ? TlsVersion::tls12 : TlsVersion::tls13,
                                        std::vector{for_instances});
}

std::shared_ptr<TlsContext> make_gateways_tls(const StateDirectory& state) {
    return std::make_shared<TlsContext>(state.instance_keys(), TlsVersion::tls13);
}

}  // namespace svc::gateway
