// Instances are restarted by one request: what becomes of it when a part fails, and when the service dies.
#include <algorithm>

#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

struct RestartFixture : InstanceFixture {
    const Actions up{"created", "scheduled", "started", "running"};

    Actions up_and(const Actions& then) const {
        Actions all = up;
        all.insert(all.end(), then.begin(), then.end());
        return all;
    }
    Started wish(const std::string& id, const std::string& status) {
        return instances().set_desired_status(id, status, false, PathWord::instances, "test");
    }
    std::string refusal_of(const std::string& id) {
        return message_of([&] { wish(id, "restarted"); });
    }
    std::size_t operations(const std::string& kind) {
        const auto all = engine().list();
        return static_cast<std::size_t>(
            std::ranges::count_if(all, [&](const auto& operation) { return operation->kind == kind; }));
    }
    // The store, before the end of the operation is stored.
    bool freezes_before(const std::string& operation) {
        eventually("the store is frozen, or the operation has ended",
                   [&] { return freezing_store.is_frozen() || is_final(engine().get(operation)->status); });
        return freezing_store.is_frozen();
    }
    // A guest says that it is up until somebody has heard it: what it said during a crash is lost.
    Started ended(const std::string& id, const std::string& restart) {
        eventually("the restart has ended", [&] {
            try_report(id);
            return is_final(engine().get(restart)->status);
        });
        return engine().get(restart);
    }
    void crash_and_begin() {
        crash_at_commit();
        begin_life();
    }
};

}  // namespace

TEST_CASE_METHOD(RestartFixture, "a restart is one operation, which ends when the instance runs again") {
    const std::string id = launched();
    const Started restart = wish(id, "restarted");
    CHECK(restart->description == "Restarting container");
    CHECK(restart->resources.at("instances").at(0) == "/1.0/instances/" + id);
    CHECK_FALSE(restart->may_cancel);
    CHECK(wait(restart)->status == OperationStatus::success);
    CHECK(status(id) == InstanceStatus::running);
    CHECK(told(id) == up_and({"stopped", "started", "running"}));
    for (const Started& part : engine().list())
        if (part->kind == "instance.stop" || part->kind == "instance.start") CHECK(part->requestor == "test");
}

TEST_CASE_METHOD(RestartFixture, "a paused instance and one that boots are restarted, too") {
    const std::string paused = launched();
    wait(wish(paused, "paused"));
    CHECK(wait(wish(paused, "restarted"))->err.empty());
    CHECK_FALSE(is_paused(*records().get(paused)));
    const std::string boots = booting();
    runtime.before("stop", [&] { guests_report = true; });  // the launch has been given up by then
    CHECK(wait(wish(boots, "restarted"))->err.empty());
    CHECK(status(boots) == InstanceStatus::running);
}

TEST_CASE_METHOD(RestartFixture, "only what is up is restarted, and once at a time") {
    const std::string id = launched();
    std::string second;
    runtime.before("stop", [&] { second = refusal_of(id); });
    wait(wish(id, "restarted"));
    CHECK(second == "Restarting container already in progress");
    runtime.before("stop", nullptr);
    wait(wish(id, "stopped"));
    CHECK(refusal_of(id) == "restarting a container that is stopped not allowed");
    CHECK(refusal_of("nothing") == "container not found");
}

TEST_CASE_METHOD(RestartFixture, "an instance that cannot be stopped is not started anew") {
    const std::string id = launched();
    runtime.fail("stop", "it hangs");
    CHECK(wait(wish(id, "restarted"))->err == "it hangs");
    CHECK(status(id) == InstanceStatus::running);
    CHECK(told(id) == up);
    CHECK(operations("instance.start") == 0);
}

TEST_CASE_METHOD(RestartFixture, "a restart tells why the instance does not start again") {
    const std::string id = launched();
    runtime.fail("start", "no room");
    CHECK(wait(wish(id, "restarted"))->err == "no room");
    CHECK(status(id) == InstanceStatus::error);
}

TEST_CASE_METHOD(RestartFixture, "an instance that is deleted while it restarts does not come back") {
    const std::string id = launched();
    Started deletion;
    runtime.before("stop", [&] {
        if (!deletion) deletion = instances().remove(id, true, PathWord::instances, "test");
    });
    CHECK(wait(wish(id, "restarted"))->status == OperationStatus::failure);
    CHECK(wait(deletion)->err.empty());
    CHECK_FALSE(exists(id));
    CHECK_FALSE(has_container(id));
}

// Each round lets one commit more be stored than the round before, until the restart needs no more.
TEST_CASE_METHOD(RestartFixture, "a restart that a crash cuts off anywhere has one stop and one start") {
    const std::string id = launched();
    Actions expected = up;
    std::size_t stored = 1;
    for (bool crashed = true; crashed; ++stored) {
        freezing_store.freeze_after(stored);
        const std::string restart = wish(id, "restarted")->id.str();
        crashed = freezes_before(restart);
        if (crashed) crash_and_begin();
        CHECK(ended(id, restart)->status == OperationStatus::success);
        settle(id);
        expected.insert(expected.end(), {"stopped", "started", "running"});
        CHECK(told(id) == expected);
        CHECK(operations("instance.stop") == stored);
        CHECK(operations("instance.start") == stored);
    }
    freezing_store.thaw();
    CHECK(stored > 6);
}
