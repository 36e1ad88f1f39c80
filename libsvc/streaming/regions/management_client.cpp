#include <atomic>

#include "libsvc/base/clock.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/client/event_stream.h"
#include "libsvc/streaming/regions/management.h"
#include "libsvc/streaming/regions/management_records.h"
#include "libsvc/streaming/regions/region_managers.h"

namespace svc {

namespace {

constexpr std::chrono::seconds removal_step{1};  // after that the end of the process is thought of
constexpr std::chrono::minutes removal_limit{5};
constexpr std::chrono::seconds launch_end_limit{5};
constexpr std::chrono::milliseconds stop_check{250};
constexpr std::int64_t no_event = -1;

// Its number, where it has one.
std::optional<std::int64_t> tell(const Json& event, const std::function<void(const std::string&)>& changed) {
    for (const auto& id : instances_in_event(event)) changed(id);
    return JsonFields(event).integer("sequence");
}

// Over libsvc/client: pooled connections for calls, a WebSocket for each follow().
class ManagementClient final : public Management {
  public:
    explicit ManagementClient(const RegionConfig& config)
        : managers_(config),
          metrics_server_(config.metrics_server),
          streamer_addons_(config.streamer_addons) {}

    std::vector<StreamApplication> applications() override {
        return launchable_applications(
            managers_.read([](RegionManager& manager) { return manager.asking.applications(); }),
            streamer_addons_);
    }
    RegionLoad load() override {
        return region_load(managers_.read([](RegionManager& manager) { return manager.asking.nodes(); }));
    }
    StreamLaunched launch(const StreamLaunch& launch) override;
    std::string launch_failure(const std::string& operation) override;
    std::vector<StreamInstance> instances() override;
    std::vector<StreamInstance> instances_of(const std::string& session) override;
    std::optional<StreamInstance> instance(const std::string& id) override;
    void remove(const std::string& id, bool force, std::stop_token stop) override;
    void note_uses(const std::vector<std::string>& instances) override {
        managers_.read([&](RegionManager& manager) {
            manager.asking.note_uses(instances);
            return true;
        });
    }
    void follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) override;

  private:
    void await_removal(const std::string& operation, const std::stop_token& stop);
    Json wait(const std::string& operation, std::chrono::seconds limit);  // for its end, or so long

    RegionManagers managers_;
    std::atomic<std::int64_t> resume_after_{no_event};  // the last event of a stream that broke
    std::string metrics_server_;
    std::vector<std::string> streamer_addons_;
    SystemClock clock_;
};

StreamLaunched ManagementClient::launch(const StreamLaunch& launch) {
    const Json payload = launch_payload(launch, metrics_server_);
    const Json operation =
        managers_.change([&](RegionManager& manager) { return manager.working.launch(payload); });
    StreamLaunched launched{resource_id(operation, {"containers", "instances"}),
                            JsonFields(operation).string("id").value_or("")};
    if (launched.instance.empty()) throw Error(ErrorCode::internal, "the launch named no instance");
    return launched;
}

// That its instance is gone may be seen before its own end.
std::string ManagementClient::launch_failure(const std::string& operation) {
    try {
        const Json record = wait(operation, launch_end_limit);
        if (!operation_is_final(record)) throw Error(ErrorCode::busy, "the launch has not ended yet");
        return failure_of_operation(record);
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found && e.code() != ErrorCode::invalid_argument) throw;
        return "";
    }
}

std::vector<StreamInstance> ManagementClient::instances() {
    std::vector<StreamInstance> found;
    for (const Json& record :
         managers_.read([](RegionManager& manager) { return manager.working.instances(); }))
        if (auto instance = stream_instance(record); !instance.session.empty())
            found.push_back(std::move(instance));
    return found;
}

std::vector<StreamInstance> ManagementClient::instances_of(const std::string& session) {
    std::vector<StreamInstance> found;
    const std::string tag = tag_of_session(session);
    for (const Json& record :
         managers_.read([&](RegionManager& manager) { return manager.working.instances_tagged(tag); }))
        if (auto instance = stream_instance(record); instance.session == session)
            found.push_back(std::move(instance));
    return found;
}

std::optional<StreamInstance> ManagementClient::instance(const std::string& id) {
    try {
        return stream_instance(
            managers_.read([&](RegionManager& manager) { return manager.working.instance(id); }));
    } catch (const Error& e) {
        if (e.code() != ErrorCode::not_found) throw;
        return std::nullopt;
    }
}

void ManagementClient::remove(const std::string& id, bool force, std::stop_token stop) {
    try {
        const Json operation = managers_.change(
            [&](RegionManager& manager) { return manager.working.delete_instance(id, force); });
        await_removal(operation.at("id").as_string(), stop);
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
        record = wait(operation, removal_step);
    } while (!operation_is_final(record) && clock_.steady_now() < end);
    if (!operation_is_final(record)) throw Error(ErrorCode::busy, "the instance is still being deleted");
    require_success(record);
}

Json ManagementClient::wait(const std::string& operation, std::chrono::seconds limit) {
    return managers_.read(
        [&](RegionManager& manager) { return manager.working.wait_operation(operation, limit); });
}

// All managers number events alike: where one has broken off, another one tells the later ones.
void ManagementClient::follow(std::stop_token stop, const std::function<void(const std::string&)>& changed) {
    std::int64_t newest = resume_after_;
    const auto since = newest == no_event ? std::nullopt : std::optional(newest);
    std::size_t teller = 0;
    EventStream events = managers_.read([&](RegionManager& manager) {
        teller = managers_.present();
        return EventStream(manager.working.target(), "lifecycle,operation", since);
    });
    resume_after_ = no_event;
    if (!since) changed("");
    try {
        while (!stop.stop_requested())
            if (const auto event = events.next(stop_check)) newest = tell(*event, changed).value_or(newest);
    } catch (const Error& e) {
        resume_after_ = newest;
        if (e.code() == ErrorCode::unavailable) managers_.pass_over(teller);
        throw;
    }
}

}  // namespace

std::unique_ptr<Management> make_management_client(const RegionConfig& config) {
    return std::make_unique<ManagementClient>(config);
}

}  // namespace svc
