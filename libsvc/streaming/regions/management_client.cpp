#include <algorithm>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/api_client.h"
#include "libsvc/client/event_stream.h"
#include "libsvc/model/cluster/metrics_server.h"
#include "libsvc/streaming/regions/management.h"
#include "libsvc/streaming/regions/management_records.h"

namespace svc {

namespace {

// A region that takes longer is not a good place for a session; asked again and again, it must not hold up
// the end of the process either.
constexpr std::chrono::seconds ask_timeout{10};
constexpr std::chrono::seconds work_timeout{30};
constexpr std::chrono::seconds removal_step{1};  // after that the end of the process is thought of
constexpr std::chrono::minutes removal_limit{5};
constexpr std::chrono::seconds launch_end_limit{5};
constexpr std::chrono::milliseconds stop_check{250};

Target target_of(const RegionConfig& config) {
    return with_context("region " + quoted(config.name), [&] {
        Target target = Target::parse(config.url);
        target.server_fingerprint = config.server_fingerprint;
        if (!config.metrics_server.empty()) MetricsServer::parse("metrics_server", config.metrics_server);
        if (!config.certificate.empty()) target.identity = KeyPair{config.certificate, config.key};
        return target;
    });
}

// Over libsvc/client: pooled connections for calls, a WebSocket for each follow().
class ManagementClient final : public Management {
  public:
    explicit ManagementClient(const RegionConfig& config)
        : asking_(target_of(config), ask_timeout),
          working_(target_of(config), work_timeout),
          metrics_server_(config.metrics_server),
          streamer_addons_(config.streamer_addons) {}

    std::vector<StreamApplication> applications() override {
        return launchable_applications(asking_.applications(), streamer_addons_);
    }
    RegionLoad load() override { return region_load(asking_.nodes()); }
    StreamLaunched launch(const StreamLaunch& launch) override;
    std::string launch_failure(const std::string& operation) override;
    std::vector<StreamInstance> instances() override;
    std::vector<StreamInstance> instances_of(const std::string& session) override;
    std::optional<StreamInstance> instance(const std::string& id) override;
    void remove(const std::string& id, bool force, std::stop_token stop) override;
    void follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) override;

  private:
    void await_removal(const std::string& operation, const std::stop_token& stop);

    ApiClient asking_, working_;
    std::string metrics_server_;
    std::vector<std::string> streamer_addons_;
    SystemClock clock_;
};

StreamLaunched ManagementClient::launch(const StreamLaunch& launch) {
    const Json operation = working_.launch(launch_payload(launch, metrics_server_));
    StreamLaunched launched{resource_id(operation, {"containers", "instances"}),
                            JsonFields(operation).string("id").value_or("")};
    if (launched.instance.empty()) throw Error(ErrorCode::internal, "the launch named no instance");
    return launched;
}

// That its instance is gone may be seen before its own end.
std::string ManagementClient::launch_failure(const std::string& operation) {
    try {
        const Json record = working_.wait_operation(operation, launch_end_limit);
        if (!operation_is_final(record)) throw Error(ErrorCode::busy, "the launch has not ended yet");
        return failure_of_operation(record);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found && e.code() != ErrorCode::invalid_argument) throw;
        return "";
    }
}

std::vector<StreamInstance> ManagementClient::instances() {
    std::vector<StreamInstance> found;
    for (const Json& record : working_.instances())
        if (auto instance = stream_instance(record); !instance.session.empty())
            found.push_back(std::move(instance));
    return found;
}

std::vector<StreamInstance> ManagementClient::instances_of(const std::string& session) {
    std::vector<StreamInstance> found;
    for (const Json& record : working_.instances_tagged(tag_of_session(session)))
        if (auto instance = stream_instance(record); instance.session == session)
            found.push_back(std::move(instance));
    return found;
}

std::optional<StreamInstance> ManagementClient::instance(const std::string& id) {
    try {
        return stream_instance(working_.instance(id));
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return std::nullopt;
    }
}

void ManagementClient::remove(const std::string& id, bool force, std::stop_token stop) {
    try {
        await_removal(working_.delete_instance(id, force).at("id").as_string(), stop);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found && (e.code() == ErrorCode::unavailable || instance(id))) throw;
    }
}

void ManagementClient::await_removal(const std::string& operation, const std::stop_token& stop) {
    const SteadyTime end = clock_.steady_now() + removal_limit;
    Json record;
    do {
        if (stop.stop_requested())
            throw Error(ErrorCode::unavailable, "nobody waits for the deletion any more");
        record = working_.wait_operation(operation, removal_step);
    } while (!operation_is_final(record) && clock_.steady_now() < end);
    if (!operation_is_final(record)) throw Error(ErrorCode::busy, "the instance is still being deleted");
    require_success(record);
}

void ManagementClient::follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) {
    EventStream events(working_.target(), "lifecycle,operation");
    changed("");
    while (!stop.stop_requested()) {
        const auto event = events.next(stop_check);
        if (!event) continue;
        for (const auto& id : instances_in_event(*event)) changed(id);
    }
}

}  // namespace

std::unique_ptr<Management> make_management_client(const RegionConfig& config) {
    return std::make_unique<ManagementClient>(config);
}

}  // namespace svc
