#pragma once
// Both servers with all devices, below a temporary directory, and what tells that they are unharmed.
#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/control/control_server.h"
#include "instance-agent/agent/control/root_routes.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/unit/net/test_server.h"

namespace svc::test {

class WholeAgent {
  public:
    // `data` "": a folder of its own. Without `clock`: the system's; else it outlives the agent.
    explicit WholeAgent(const std::filesystem::path& data = {}, Clock* clock = nullptr);
    ~WholeAgent();
    WholeAgent(const WholeAgent&) = delete;
    WholeAgent& operator=(const WholeAgent&) = delete;

    std::filesystem::path api_socket() const { return sockets() / "api.unix"; }
    std::filesystem::path guest_socket() const { return sockets() / "guest.unix"; }
    std::filesystem::path sockets() const { return directory_.path() / "run"; }
    std::filesystem::path data() const { return paths_.data; }
    Target api() const { return Target::parse("unix://" + api_socket().string()); }

    // The answer's body, checked to be one that the API may give: an envelope with a status that is the
    // code's own, and, where it is an error, a text that can be read.
    Json ask(const std::string& method, const std::string& path, const std::string& body = "") const;
    static Json check_envelope(const RawReply& reply);
    // "200", or "400 text".
    std::string outcome(const std::string& method, const std::string& path,
                        const std::string& body = "") const;
    static std::string outcome_of(const Json& body);

    // Location, camera, sensors and tracing.
    void switch_all(bool on) const;

    // Serves both sockets; all that was opened since `descriptors` were counted is closed again.
    bool is_unharmed(std::size_t descriptors) const;
    bool serves() const;

  private:
    agent::DeviceContext context();

    TemporaryDirectory directory_;
    agent::Paths paths_;

  public:
    MetricsRegistry metrics;

  private:
    SystemClock system_clock_;
    Clock& clock_;
    agent::LogSetting setting_;
    agent::AgentDevices devices_;
    std::unique_ptr<agent::ControlServer> control_;
    std::unique_ptr<agent::GuestServer> guests_;
};

std::size_t open_descriptors();  // of this process

std::string http_request(const std::string& method, const std::string& path, const std::string& body = "");

}  // namespace svc::test
