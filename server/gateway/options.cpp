#include "server/gateway/options.h"

#include "libsvc/base/error.h"
#include "server/gateway/settings.h"

namespace svc::gateway {

Invocation read_options(int argc, const char* const* argv, const std::filesystem::path& default_config) {
    Invocation invocation;
    Options& options = invocation.options;
    process::CommandLine line{"svc-gateway",
                              "stream gateway: sessions of instances that are watched in a browser",
                              default_config,
                              process::bind(settings(), options),
                              {{"--check-config", "check flags and file, then exit", options.check_only}}};
    if (const auto status = process::read_configuration(line, argc, argv)) return {{}, true, *status};
    if (options.tls_certificate.empty() != options.tls_key.empty())
        throw Error(ErrorCode::invalid_argument, "tls_certificate and tls_key go together");
    if ((options.store == "etcd") == options.gateway_listen.empty())
        throw Error(ErrorCode::invalid_argument, "store: etcd and gateway_listen go together");
    return invocation;
}

}  // namespace svc::gateway
