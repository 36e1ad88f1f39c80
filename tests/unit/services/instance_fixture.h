#pragma once
// Instances of one image, with what their tests ask again and again.
#include "libsvc/services/instances/instance_service.h"
#include "tests/unit/services/service_fixture.h"

namespace svc::test {

using Actions = std::vector<std::string>;

inline InstanceReport running_report() {
    InstanceReport report;
    report.status = "running";
    return report;
}

struct InstanceFixture : ServiceFixture {
    explicit InstanceFixture(WorldOptions given = {}) : ServiceFixture(std::move(given)) {
        add_image("base");
    }

    // A guest that boots until the test says otherwise.
    std::string booting(const InstanceCreate& create = request()) {
        guests_report = false;
        const std::string id = id_of(launch(create));
        await_told(id, "started");
        return id;
    }
    std::shared_ptr<const Operation> launch_of(const std::string& id) {
        return engine().wait(records().get(id)->launch_operation, std::nullopt);
    }
    bool exists(const std::string& id) { return life->instances.find(id) != nullptr; }
    bool has_container(const std::string& id) { return runtime.inspect(id).has_value(); }
    std::shared_ptr<const Operation> advance_until_final(const std::string& operation) {
        turn_clock_until("the operation has ended", std::chrono::minutes(1),
                         [&] { return is_final(engine().get(operation)->status); });
        return engine().get(operation);
    }
    // Ends the service while a commit waits to be stored: nothing of it is on disk.
    void crash_at_commit() {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return freezing_store.is_frozen(); });
        lock.unlock();
        service_clock.on_next([this] { freezing_store.let_go(); });
        life->engine.stop(std::chrono::hours(1));
        set_life(nullptr);
        freezing_store.thaw();
    }
    std::string refusal(const InstanceCreate& create) {
        return message_of([&] { launch(create); });
    }
};

}  // namespace svc::test
