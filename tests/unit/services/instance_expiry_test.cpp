// Instances are deleted by themselves: when their time is over, and when nobody has used them for long.
#include <algorithm>

#include "libsvc/base/log.h"
#include "libsvc/services/exec/exec_service.h"
#include "libsvc/services/instances/end/instance_expiry.h"
#include "tests/unit/services/instance_fixture.h"

using namespace svc;
using namespace svc::test;
using namespace std::chrono_literals;

namespace {

const std::string stays = "container stays although its time is over";

// How often the log has told that an instance stays, while this lives.
struct StaysTold {
    StaysTold() {
        log::set_listener([this](log::Level, std::string_view message, const log::Fields&) {
            if (message == stays) count.change([](int& told) { ++told; });
        });
    }
    ~StaysTold() { log::set_listener(nullptr); }
    Watched<int> count;
};

struct ExpiryFixture : InstanceFixture {
    ExpiryFixture() { instances().start_expiry(); }

    void restart() {
        InstanceFixture::restart();
        instances().start_expiry();
    }
    std::string launched_with(LifetimeWish wish) {
        InstanceCreate create = request();
        create.lifetime = wish;
        return launched(create);
    }
    void extend(const std::string& id, LifetimeWish wish) {
        REQUIRE(wait(instances().extend(id, wish, PathWord::instances, "test"))->err.empty());
    }
    void protect(const std::string& id, bool wanted) {
        REQUIRE(wait(instances().protect(id, wanted, PathWord::instances, "test"))->err.empty());
    }
    void await_gone(const std::string& id) {
        await_told(id, "removed");
        settle(id);
        CHECK_FALSE(exists(id));
        CHECK_FALSE(has_container(id));
    }
    // The requestors of its deletions, in their order.
    std::vector<std::string> requestors(const std::string& id) {
        std::vector<std::string> found;
        for (const auto& operation : engine().list())
            if (operation->kind == "instance.delete" && operation->arguments.at("instance") == Json(id))
                found.push_back(operation->requestor);
        return found;
    }
    Time used_at(const std::string& id) { return records().get(id)->lifetime.used_at; }
    void await_used_at(const std::string& id, Time time) {
        eventually("the use is stored", [&] { return used_at(id) == time; });
    }
};

// Only limits, over records without instances: which are looked at, and when.
struct BareExpiry {
    ManualClock clock;
    SqliteStore store{":memory:"};
    InstanceListener listener;
    Instances instances{store, listener.observer()};
    InstanceUses uses{clock};
    Watched<std::vector<std::string>> removed;  // or tried
    std::atomic<bool> refuses{false};
    std::function<void(const std::string& id)> meanwhile;  // comes once, before a removal looks at the record
    std::unique_ptr<InstanceExpiry> expiry;

    void start() {
        const auto remove = [this](const std::string& id, const std::string&, const Lifetime& limits) {
            if (meanwhile) std::exchange(meanwhile, nullptr)(id);
            check_limits(*instances.get(id), limits);
            removed.change([&](auto& all) { all.push_back(id); });
            if (refuses) throw Error(ErrorCode::forbidden, "it is protected");
            instances.remove(id);
            return std::string("operation");
        };
        expiry = std::make_unique<InstanceExpiry>(
            InstanceExpiryParts{instances, listener, uses, clock, remove, {}});
    }
    static std::string id(int number) {
        const std::string digits = std::to_string(number);
        return std::string(20 - digits.size(), '0') + digits;
    }
    // Records of which the n-th lives for `first` and n minutes.
    void add(int count, Duration first) {
        Batch batch;
        for (int number = 0; number < count; ++number) {
            Instance instance;
            instance.id = InstanceId(id(number));
            instance.lifetime.expires_at = clock.now() + first + std::chrono::minutes(number);
            instances.stage_create(batch, instance);
        }
        store.commit(batch);
    }
};

}  // namespace

TEST_CASE_METHOD(ExpiryFixture, "an instance is deleted when its time is over, by an ordinary operation") {
    const std::string id = launched_with({.expires_after = 2h, .idle_after = {}});
    const std::string other = launched();
    CHECK(records().get(id)->lifetime.expires_at == records().get(id)->created_at + 2h);
    clock.advance(2h - 1s);
    CHECK(exists(id));
    clock.advance(1s);
    await_gone(id);
    CHECK(requestors(id) == std::vector<std::string>{"expired"});
    CHECK(exists(other));
}

TEST_CASE_METHOD(ExpiryFixture, "its time counts from the request, so a change extends it or takes it away") {
    const std::string longer = launched_with({.expires_after = 2h, .idle_after = {}});
    const std::string endless = launched_with({.expires_after = 2h, .idle_after = {}});
    const std::string shorter = launched_with({});
    clock.advance(1h);
    extend(longer, {.expires_after = 2h, .idle_after = {}});
    extend(endless, {.expires_after = Duration(0), .idle_after = {}});
    extend(shorter, {.expires_after = 1h, .idle_after = {}});
    clock.advance(1h);
    await_gone(shorter);
    CHECK(exists(longer));
    clock.advance(1h);
    await_gone(longer);
    CHECK(exists(endless));
    CHECK(records().get(endless)->lifetime == Lifetime{});
}

TEST_CASE_METHOD(ExpiryFixture, "a launch that goes on is ended when the time of its instance is over") {
    InstanceCreate create = request();
    create.lifetime.expires_after = 1min;
    const std::string id = booting(create);
    const std::string launch_operation = records().get(id)->launch_operation;
    clock.advance(1min);
    await_gone(id);
    CHECK(engine().get(launch_operation)->status == OperationStatus::cancelled);
}

TEST_CASE_METHOD(ExpiryFixture, "what expires while the service is down is deleted soon after its start") {
    const std::string id = launched_with({.expires_after = 1h, .idle_after = {}});
    const std::string later = launched_with({.expires_after = 3h, .idle_after = {}});
    end_life();
    clock.advance(2h);
    begin_life();
    CHECK(exists(id));
    instances().start_expiry();
    await_gone(id);
    CHECK(exists(later));
    clock.advance(1h);
    await_gone(later);
}

TEST_CASE_METHOD(ExpiryFixture, "the date may be set: an instance lives as long as it should") {
    const auto day = GENERATE(24h, -24h);
    const std::string id = launched_with({.expires_after = 1h, .idle_after = {}});
    clock.step(day);
    clock.advance(1h - 1s);
    protect(id, false);  // a change has it looked at again
    CHECK(exists(id));
    clock.advance(1s);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture,
                 "a protected instance stays, which is told, until it is not protected any more") {
    StaysTold told;
    const std::string id = launched_with({.expires_after = 1h, .idle_after = {}});
    protect(id, true);
    clock.advance(1h);
    told.count.await([](int count) { return count == 1; });
    CHECK(status(id) == InstanceStatus::running);
    protect(id, false);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture, "a deletion that fails is tried again a minute later") {
    const std::string id = launched_with({.expires_after = 1h, .idle_after = {}});
    runtime.fail("remove", "device is busy");
    clock.advance(1h);
    await_told(id, "failed");
    settle(id);
    CHECK(records().get(id)->error_message == "deletion failed: device is busy");
    runtime.before("remove", nullptr);
    turn_clock_until("it is gone", 1min, [&] { return !exists(id); });
    CHECK(requestors(id) == std::vector<std::string>{"expired", "expired"});
}

TEST_CASE_METHOD(ExpiryFixture, "an instance that nobody uses is deleted, whatever its status is") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 30min});
    clock.advance(20min);
    wait(instances().set_desired_status(id, "stopped", false, PathWord::instances, "test"));  // a use
    clock.advance(29min);
    CHECK(status(id) == InstanceStatus::stopped);
    clock.advance(1min);
    await_gone(id);
    CHECK(requestors(id) == std::vector<std::string>{"idle"});
}

TEST_CASE_METHOD(ExpiryFixture, "an instance in which a command runs is in use") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 10min});
    ExecRequest command;
    command.command = {"true"};
    const Started running = life->exec_service.start(id, command, PathWord::instances, "test");
    CHECK(instances().uses().last(id) == clock.steady_now());
    advance_until_final(running->id.str());  // nobody connects its streams
    turn_clock_until("the command holds it no longer", 1s,
                     [&] { return instances().uses().last(id) != clock.steady_now(); });
    clock.advance(10min);
    await_gone(id);
    CHECK(requestors(id) == std::vector<std::string>{"idle"});
}

TEST_CASE_METHOD(ExpiryFixture, "an instance that is held is not idle, however long that takes") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 10min});
    auto hold = instances().uses().hold(id);
    for (int turn = 0; turn < 5; ++turn) {
        clock.advance(10min);
        await_used_at(id, clock.now());
    }
    CHECK(exists(id));
    clock.advance(5min);
    hold.reset();
    await_used_at(id, clock.now());
    clock.advance(10min - 1s);
    CHECK(exists(id));
    clock.advance(1s);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture, "a command that runs when the limit is set is a use, too") {
    const std::string id = launched();
    auto hold = instances().uses().hold(id);
    extend(id, {.expires_after = {}, .idle_after = 10min});
    clock.advance(1h);
    CHECK(instances().uses().last(id) == clock.steady_now());
    hold.reset();
    clock.advance(10min);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture, "a use is stored when the stored one is a quarter of the limit old") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 40min});
    const Time launch = clock.now();
    CHECK(used_at(id) == launch);
    for (int minute = 0; minute < 9; ++minute) {
        clock.advance(1min);
        instances().uses().note(id);
    }
    clock.advance(1min);
    instances().uses().note(id);
    await_used_at(id, launch + 10min);
    for (int minute = 0; minute < 9; ++minute) {
        clock.advance(1min);
        instances().uses().note(id);
    }
    CHECK(used_at(id) == launch + 10min);
    clock.advance(39min);  // counts from the use of 19 minutes, which is not stored
    CHECK(exists(id));
    clock.advance(1min);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture, "the start of the service counts as a use") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 30min});
    clock.advance(20min);
    restart();
    clock.advance(29min);
    CHECK(exists(id));
    clock.advance(1min);
    await_gone(id);
}

TEST_CASE_METHOD(ExpiryFixture, "a use that cannot be stored counts all the same") {
    const std::string id = launched_with({.expires_after = {}, .idle_after = 40min});
    const Time launch = clock.now();
    clock.advance(20min);
    store.fail_next();
    instances().uses().note(id);
    clock.advance(39min);
    CHECK(exists(id));
    CHECK(used_at(id) == launch);
    clock.advance(1min);
    await_gone(id);
}

TEST_CASE("instances that are not due are not looked at, however many there are") {
    BareExpiry bare;
    constexpr int count = 3000;
    bare.add(count, 1h);
    bare.start();
    CHECK(bare.expiry->pending() == count);
    for (int minute = 0; minute < 59; ++minute) {
        bare.clock.await_waiters(1);
        bare.clock.advance(1min);
    }
    bare.clock.await_waiters(1);
    CHECK(bare.expiry->looks() == 0);
    bare.clock.advance(1min);
    eventually("it is gone", [&] { return bare.instances.size() == count - 1; });
    bare.clock.await_waiters(1);
    CHECK(bare.removed.get() == std::vector{BareExpiry::id(0)});
    CHECK(bare.expiry->looks() == 1);
    CHECK(bare.expiry->pending() == count - 1);
    bare.instances.remove(BareExpiry::id(5));
    CHECK(bare.expiry->pending() == count - 2);
}

TEST_CASE("that an instance cannot be deleted is told once, and tried again") {
    StaysTold told;
    BareExpiry bare;
    bare.refuses = true;
    bare.add(1, 1h);
    bare.start();
    bare.clock.advance(1h);
    for (std::size_t tries = 1; tries < 5; ++tries) {
        bare.removed.await([&](const auto& all) { return all.size() == tries; });
        bare.clock.await_waiters(1);
        bare.clock.advance(1min);
    }
    CHECK(told.count.get() == 1);
    bare.refuses = false;
    bare.clock.await_waiters(1);
    bare.clock.advance(1min);
    eventually("it is gone", [&] { return bare.instances.size() == 0; });
    CHECK(bare.expiry->pending() == 0);
}

TEST_CASE("a limit that is changed while a deletion begins counts") {
    BareExpiry bare;
    const auto change = GENERATE(0h, 1h);  // "never", and an hour more
    bare.meanwhile = [&](const std::string& id) {
        bare.instances.update(id, [&](Instance& changed) {
            changed.lifetime.expires_at = change == 0h ? Time{} : bare.clock.now() + change;
        });
    };
    bare.add(1, 1h);
    bare.start();
    bare.clock.advance(1h);
    eventually("it was looked at", [&] { return bare.expiry->looks() == 1; });
    bare.clock.await_waiters(1);
    CHECK(bare.removed.get().empty());
    CHECK(bare.expiry->pending() == (change == 0h ? 0 : 1));
    bare.clock.advance(1h);
    if (change != 0h) bare.removed.await([](const auto& all) { return all.size() == 1; });
    bare.clock.await_waiters(1);
    CHECK(bare.instances.size() == (change == 0h ? 1 : 0));
}

TEST_CASE("what changes while nobody leads is seen when somebody does") {
    BareExpiry bare;
    bare.add(3, 1h);
    bare.instances.remove(BareExpiry::id(0));
    bare.start();
    CHECK(bare.expiry->pending() == 2);
    bare.expiry.reset();
    bare.clock.advance(24h);
    bare.start();
    const auto removed = bare.removed.await([](const auto& all) { return all.size() == 2; });
    CHECK(removed == std::vector{BareExpiry::id(1), BareExpiry::id(2)});
}
