#include "tests/support/test_daemon.h"

#include "libsvc/base/error.h"
#include "libsvc/services/trust/agent_tokens.h"

namespace svc::test {

server::Options test_options(const std::filesystem::path& directory) {
    server::Options options;
    options.state_dir = directory / "state";
    options.socket = directory / "svc.socket";
    options.listen = {"127.0.0.1:0"};
    options.metrics_listen = "127.0.0.1:0";
    options.hypervisor_listen = "127.0.0.1:0";
    options.runtime = "simulated";
    options.node_name = "node0";
    options.log_level = log::Level::error;
    options.operation_workers = 4;
    options.workers = 4;
    options.stop_grace = Duration(0);
    return options;
}

KeyPair make_key_pair(const std::filesystem::path& directory, const std::string& name) {
    const SystemClock clock;
    KeyPair files{directory / (name + ".crt"), directory / (name + ".key")};
    ensure_key_pair(files, name, {}, {}, clock);
    return files;
}

constexpr std::string_view hypervisor_path = "/1.0/metrics";  // at the end of that listener's address

TestDaemon::TestDaemon(const std::function<void(server::Options&)>& change)
    : directory_(std::filesystem::temp_directory_path(), "svc-test-"),
      options_(test_options(directory_.path())) {
    if (change) change(options_);
    start();
}

void TestDaemon::start() {
    log::set_level(options_.log_level);
    daemon_ = std::make_unique<server::Daemon>(options_);
    api_ = std::make_unique<ApiCaller>(local_target());
}

void TestDaemon::restart(const std::function<void(server::Options&)>& change) {
    stop();
    if (change) change(options_);
    start();
}

void TestDaemon::stop() {
    api_.reset();
    daemon_.reset();
}

std::string TestDaemon::address(std::string_view scheme) const {
    for (const std::string& address : daemon_->addresses())
        if (address.starts_with(scheme) && !address.ends_with(hypervisor_path)) return address;
    throw Error(ErrorCode::not_found, "the daemon listens on no " + std::string(scheme));
}

void TestDaemon::trust(const KeyPair& identity) {
    const ApiReply reply =
        api().post("/1.0/certificates", Json::object({{"certificate", read_file(identity.certificate)}}));
    if (reply.status != 200) throw Error(ErrorCode::internal, "not trusted: " + reply.text);
}

std::string TestDaemon::bearer(const std::string& instance) const {
    const SystemClock clock;
    return "bearer " + AgentTokens(options_.state_dir / "tokens.key", clock).issue(instance);
}

Target TestDaemon::local_target() const {
    Target target;
    target.unix_path = options_.socket;
    return target;
}

Target TestDaemon::agent_target() const {
    Target target;
    target.unix_path = options_.state_dir / "agent" / "server.unix";
    return target;
}

Target TestDaemon::tls_target(std::optional<KeyPair> identity) const {
    Target target = Target::parse(address("https:"));
    target.server_fingerprint = daemon_->tls_fingerprint();
    target.identity = std::move(identity);
    return target;
}

Target TestDaemon::hypervisor_target(std::optional<KeyPair> identity) const {
    for (const std::string& address : daemon_->addresses()) {
        if (!address.ends_with(hypervisor_path)) continue;
        Target target = Target::parse(address.substr(0, address.size() - hypervisor_path.size()));
        target.server_fingerprint = daemon_->tls_fingerprint();
        target.identity = std::move(identity);
        return target;
    }
    throw Error(ErrorCode::not_found, "the daemon has no listener for its hypervisor's metrics");
}

Target TestDaemon::metrics_target() const {
    return Target::parse(address("http:"));
}

}  // namespace svc::test
