#pragma once
// The daemon inside the test's process: simulated runtime, state in a temporary directory, a Unix socket
// there, TLS and metrics on free ports of the loopback. Link server_test_dep.
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"
#include "server/daemon.h"
#include "server/options.h"
#include "tests/support/api_caller.h"

namespace svc::test {

// One thread.
class TestDaemon {
  public:
    // `change` adjusts the options before the start.
    explicit TestDaemon(const std::function<void(server::Options&)>& change = {});

    ApiCaller& api() { return *api_; }  // over the local socket
    Target local_target() const;
    Target agent_target() const;                                              // the instances' socket
    Target tls_target(std::optional<KeyPair> identity = std::nullopt) const;  // pinned
    Target metrics_target() const;
    Target hypervisor_target(std::optional<KeyPair> identity = std::nullopt) const;  // pinned
    void trust(const KeyPair& identity);  // as POST /1.0/certificates does
    std::vector<server::ServedRoute> routes() const { return daemon_->routes(); }
    // What the agent of an instance sends: "bearer ...".
    std::string bearer(const std::string& instance) const;
    const server::Options& options() const { return options_; }
    std::filesystem::path path() const { return directory_.path(); }
    // An orderly one, on the same state; `change` adjusts the options before the new start.
    void restart(const std::function<void(server::Options&)>& change = {});
    void stop();

  private:
    void start();
    std::string address(std::string_view scheme) const;

    TemporaryDirectory directory_;
    server::Options options_;
    std::unique_ptr<server::Daemon> daemon_;
    std::unique_ptr<ApiCaller> api_;
};

// What tests start with: the simulated runtime below `directory`, every port free, logs of warnings and
// above.
server::Options test_options(const std::filesystem::path& directory);
// A new key pair, for a client certificate.
KeyPair make_key_pair(const std::filesystem::path& directory, const std::string& name);

}  // namespace svc::test
