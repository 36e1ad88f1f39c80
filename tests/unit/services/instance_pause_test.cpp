// Instances stand still and go on: what they show meanwhile, refusals, failures, crashes.
#include "libsvc/services/exec/exec_service.h"
#include "tests/support/instance_record.h"
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;
using Actions = std::vector<std::string>;

namespace {

const Actions up{"created", "scheduled", "started", "running"};

Actions up_and(const Actions& then) {
    Actions all = up;
    all.insert(all.end(), then.begin(), then.end());
    return all;
}

struct PauseFixture : InstanceFixture {
    Started wish(const std::string& id, const std::string& status) {
        return instances().set_desired_status(id, status, false, PathWord::containers, "test");
    }
    std::string refusal_of(const std::string& id, const std::string& wished) {
        return message_of([&] { wish(id, wished); });
    }
    std::string paused() {
        const std::string id = launched();
        REQUIRE(wait(wish(id, "paused"))->err.empty());
        return id;
    }
    bool shown(const std::string& id) { return is_paused(*records().get(id)); }
    bool frozen(const std::string& id) { return simulated.inspect(id)->frozen; }
    void reconcile(const std::string& id) {
        instances().reconciler().reconcile();
        settle(id);
    }
    void crash_and_begin() {
        crash_at_commit();
        begin_life();
    }
};

}  // namespace

TEST_CASE_METHOD(PauseFixture, "a paused instance stands still, is running to clients, and goes on") {
    const std::string id = launched();
    const Started pause = wish(id, "paused");
    CHECK(pause->resources.at("containers").at(0) == "/1.0/containers/" + id);
    CHECK(wait(pause)->status == OperationStatus::success);
    CHECK(frozen(id));
    CHECK(record_of(*records().get(id)).at("paused") == Json(true));
    CHECK(record_of(*records().get(id)).at("status") == Json("running"));
    CHECK(records().get(id)->address == "10.0.0.2");
    CHECK(wait(wish(id, "running"))->status == OperationStatus::success);
    CHECK_FALSE(frozen(id));
    CHECK(record_of(*records().get(id)).find("paused") == nullptr);
    CHECK(told(id) == up_and({"paused", "resumed"}));
}

TEST_CASE_METHOD(PauseFixture, "only what runs is paused, once, and takes no command meanwhile") {
    const std::string id = paused();
    CHECK(refusal_of(id, "paused") == "Already paused");
    CHECK(message_of([&] {
              ExecRequest request;
              request.command = {"true"};
              life->exec_service.start(id, request, PathWord::containers, "test");
          }) == "exec in a container that is paused not allowed");
    wait(wish(id, "running"));
    CHECK(refusal_of(id, "running") == "Already running");
    wait(wish(id, "stopped"));
    CHECK(refusal_of(id, "paused") == "pausing a container that is stopped not allowed");
    CHECK(refusal_of(booting(), "paused") == "pausing a container that is started not allowed");
    CHECK(refusal_of(id, "frozen") ==
          "argument desired_status is invalid: must be running, paused, stopped or restarted");
}

TEST_CASE_METHOD(PauseFixture, "a paused instance is stopped, and runs when it is started again") {
    const std::string id = paused();
    CHECK(wait(wish(id, "stopped"))->err.empty());
    CHECK(status(id) == InstanceStatus::stopped);
    wait(wish(id, "running"));
    CHECK(status(id) == InstanceStatus::running);
    CHECK_FALSE(shown(id));
    CHECK(told(id) == up_and({"paused", "stopped", "started", "running"}));
}

TEST_CASE_METHOD(PauseFixture, "a paused instance is deleted, and one that fails is not paused afterwards") {
    const std::string gone = paused();
    CHECK(wait(instances().remove(gone, false, PathWord::containers, "test"))->err.empty());
    CHECK_FALSE(exists(gone));
    const std::string failed = paused();
    simulated.end(failed, false, "init was killed by signal 9");
    await_told(failed, "failed");
    settle(failed);
    CHECK_FALSE(shown(failed));
    wait(wish(failed, "running"));
    CHECK_FALSE(shown(failed));
}

TEST_CASE_METHOD(PauseFixture, "a stop that fails leaves the record as the container is") {
    const std::string id = paused();
    runtime.fail("stop", "it hangs");
    CHECK(wait(wish(id, "stopped"))->err == "it hangs");
    CHECK(status(id) == InstanceStatus::running);
    CHECK(shown(id));
    CHECK(frozen(id));
    CHECK(told(id) == up_and({"paused"}));
    runtime.before("stop", [&] {
        runtime.thaw(id);
        throw Error(ErrorCode::unavailable, "it hangs");
    });
    CHECK(wait(wish(id, "stopped"))->err == "it hangs");
    CHECK_FALSE(shown(id));
    CHECK_FALSE(frozen(id));
    CHECK(told(id) == up_and({"paused", "resumed"}));
}

TEST_CASE_METHOD(PauseFixture, "a guest that does not stand still is not paused") {
    const std::string id = launched();
    runtime.fail("freeze", "its processes do not stand still");
    CHECK(wait(wish(id, "paused"))->err == "its processes do not stand still");
    CHECK_FALSE(shown(id));
    runtime.before("freeze", nullptr);
    wait(wish(id, "paused"));
    runtime.fail("thaw", "node m2 is offline");
    CHECK(wait(wish(id, "running"))->err == "node m2 is offline");
    CHECK(shown(id));
    CHECK(told(id) == up_and({"paused"}));
}

TEST_CASE_METHOD(PauseFixture, "an instance is paused after a restart, which tells nothing twice") {
    const std::string id = paused();
    restart();
    reconcile(id);
    CHECK(shown(id));
    CHECK(frozen(id));
    CHECK(told(id) == up_and({"paused"}));
    wait(wish(id, "running"));
    restart();
    reconcile(id);
    CHECK_FALSE(shown(id));
    CHECK(told(id) == up_and({"paused", "resumed"}));
}

TEST_CASE_METHOD(PauseFixture, "a pause or its end that a crash cut off is ended by the next life") {
    const std::string id = launched();
    freezing_store.freeze_after(1);  // the request is stored, its end is not
    const std::string pause = wish(id, "paused")->id.str();
    crash_and_begin();
    CHECK(engine().wait(pause, std::nullopt)->status == OperationStatus::success);
    CHECK(shown(id));
    CHECK(frozen(id));
    freezing_store.freeze_after(1);
    const std::string resume = wish(id, "running")->id.str();
    crash_and_begin();
    CHECK(engine().wait(resume, std::nullopt)->status == OperationStatus::success);
    CHECK_FALSE(shown(id));
    CHECK_FALSE(frozen(id));
    CHECK(told(id) == up_and({"paused", "resumed"}));
}

TEST_CASE_METHOD(PauseFixture,
                 "what a killed daemon had no time to tell of a pause is told by the next one") {
    const std::string id = launched();
    end_life();
    Instance changed = *Instances(store).get(id);
    changed.paused = true;
    sqlite.commit(Batch().put("instances/" + id, instance_to_store(changed).dump()));
    simulated.freeze(id);
    restart();
    CHECK(await_told(id, "paused") == up_and({"paused"}));
    end_life();
    changed.paused = false;
    sqlite.commit(Batch().put("instances/" + id, instance_to_store(changed).dump()));
    simulated.thaw(id);
    restart();
    CHECK(await_told(id, "resumed") == up_and({"paused", "resumed"}));
}

TEST_CASE_METHOD(PauseFixture, "the record follows a container that somebody else has frozen or thawed") {
    const std::string id = launched();
    simulated.freeze(id);
    reconcile(id);
    CHECK(shown(id));
    simulated.thaw(id);
    reconcile(id);
    CHECK_FALSE(shown(id));
    CHECK(told(id) == up_and({"paused", "resumed"}));
    reconcile(id);
    CHECK(told(id).size() == up.size() + 2);
}

TEST_CASE_METHOD(PauseFixture, "a paused instance whose container cannot be read is paused when it can be") {
    const std::string id = paused();
    runtime.set_fault(id, "node m2 is offline");
    reconcile(id);
    CHECK(status(id) == InstanceStatus::error);
    CHECK_FALSE(shown(id));
    CHECK(refusal_of(id, "paused") == "container cannot be read: node m2 is offline");
    runtime.set_fault(id, "");
    reconcile(id);
    CHECK(await_told(id, "paused") == up_and({"paused", "failed", "paused"}));
    CHECK(shown(id));
}
