#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "tests/support/eventually.h"
#include "tests/unit/operations/engine_fixture.h"

namespace svc {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::Codes;
using RecoveryFixture = test::EngineFixture;

OperationResult undone(const Operation& operation, const Error& error) {
    return {.last = Batch().put("undone/" + operation.id.str(), error.what())};
}

TEST_CASE_METHOD(RecoveryFixture, "work that can be repeated goes on under its id") {
    const auto id = leave_behind(OperationStatus::running, {.kind = "test", .arguments = "what"});
    engine = make_engine();
    std::atomic<bool> resumed = false;
    std::string arguments;
    handle(
        [&](OperationContext& context) {
            resumed = context.resumed();
            arguments = context.operation().arguments.as_string();
            return OperationResult{};
        },
        undone, true);
    engine->recover();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(resumed);
    CHECK(arguments == "what");
    CHECK(told_of(id) == Codes{200});
    const auto fresh = start();
    wait(fresh);
    CHECK_FALSE(resumed);
}

TEST_CASE_METHOD(RecoveryFixture, "what work keeps is stored before it goes on, beside its arguments") {
    handle([&](OperationContext& context) {
        context.keep(Json::object({{"step", 1}}));
        gate.pass();
        return OperationResult{};
    });
    const auto id = start({.cancellable = true, .arguments = Json::object({{"what", "this"}})});
    gate.await();
    CHECK(stored(id).arguments == Json::object({{"what", "this"}, {"step", 1}}));
    engine->cancel(id);
    CHECK(stored(id).arguments.at("step") == Json(1));
    gate.open();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(stored(id).arguments.at("step") == Json(1));
}

TEST_CASE_METHOD(RecoveryFixture, "work whose keeping the store refuses fails") {
    handle([&](OperationContext& context) {
        store.fail_next(ErrorCode::exhausted);
        context.keep(Json::object({{"step", 1}}));
        return OperationResult{};
    });
    const auto id = start({.arguments = Json::object({{"what", "this"}})});
    CHECK(wait(id)->status == OperationStatus::failure);
    CHECK(stored(id).arguments == Json::object({{"what", "this"}}));
}

TEST_CASE_METHOD(RecoveryFixture, "work that cannot be repeated is undone and ends as a failure") {
    const auto id = leave_behind(OperationStatus::running, {.kind = "test", .cancellable = true});
    engine = make_engine();
    std::atomic<int> runs = 0;
    handle([&](auto&) { return ++runs, OperationResult{}; }, undone);
    engine->recover();
    const auto record = wait(id);
    CHECK(record->status == OperationStatus::failure);
    CHECK(record->err == "service restarted");
    CHECK_FALSE(record->may_cancel);
    CHECK(sqlite.get("undone/" + id)->value == "service restarted");
    CHECK(runs == 0);
    CHECK(told_of(id) == Codes{400});
}

TEST_CASE_METHOD(
    RecoveryFixture,
    "an operation being cancelled is undone and ends as cancelled, even if it could be repeated") {
    const auto id = leave_behind(OperationStatus::cancelling, {.kind = "test", .cancellable = true});
    engine = make_engine();
    std::atomic<int> runs = 0;
    handle([&](auto&) { return ++runs, OperationResult{}; }, undone, true);
    engine->recover();
    CHECK(wait(id)->status == OperationStatus::cancelled);
    CHECK(wait(id)->err == "Operation cancelled");
    CHECK(sqlite.get("undone/" + id));
    CHECK(runs == 0);
}

TEST_CASE_METHOD(RecoveryFixture, "recovered work begins when all others hold or await their claims again") {
    const auto first = leave_behind(OperationStatus::running, {.kind = "test", .claims = {"first"}});
    for (int i = 0; i < 300; ++i)
        leave_behind(OperationStatus::running, {.kind = "test", .claims = {"claim " + std::to_string(i)}});
    engine = make_engine();
    std::atomic<bool> last_is_held = false;
    handle(
        [&](OperationContext& context) {
            if (context.operation().id.str() == first) last_is_held = engine->claimed("claim 299");
            return OperationResult{};
        },
        undone, true);
    engine->recover();
    wait(first);
    engine.reset();  // the others' work knows this scope, too
    CHECK(last_is_held);
}

TEST_CASE_METHOD(RecoveryFixture, "an operation of an unknown kind ends as a failure") {
    const auto id = leave_behind(OperationStatus::running, {.kind = "unheard"});
    engine = make_engine();
    engine->recover();
    CHECK(wait(id)->err == "service restarted");
    CHECK(stored(id).status == OperationStatus::failure);
}

TEST_CASE_METHOD(RecoveryFixture, "finished operations stay readable and are left alone") {
    const auto id = leave_behind(OperationStatus::success, {.kind = "test"});
    engine = make_engine();
    handle([](auto&) { return OperationResult{}; }, undone, true);
    engine->recover();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(told_of(id).empty());
    CHECK_FALSE(sqlite.get("undone/" + id));
}

TEST_CASE_METHOD(RecoveryFixture, "recovered operations hold their claims, the earlier one first") {
    const auto launch = leave_behind(OperationStatus::running, {.kind = "test", .claims = {"x"}});
    const auto deletion = leave_behind(OperationStatus::running, {.kind = "test", .claims = {"x"}});
    engine = make_engine();
    Guarded<std::vector<std::string>> order;
    handle(
        [&](OperationContext& context) {
            order.with([&](auto& o) { o.push_back(context.operation().id.str()); });
            return gate.pass(), OperationResult{};
        },
        nullptr, true);
    engine->recover();
    CHECK(engine->claimed("x"));
    CHECK(code_of([&] { start({.claims = {"x"}}); }) == ErrorCode::busy);
    gate.open();
    wait(deletion);
    CHECK(order.with([](auto& o) { return o; }) == std::vector<std::string>{launch, deletion});
}

TEST_CASE_METHOD(RecoveryFixture, "a recovered deletion cancels whom it waits for") {
    const auto launch =
        leave_behind(OperationStatus::running, {.kind = "launch", .claims = {"x"}, .cancellable = true});
    const auto deletion = leave_behind(OperationStatus::running, {.kind = "test", .claims = {"x"}});
    engine = make_engine();
    const auto forever = [&](OperationContext& context) -> OperationResult {
        gate.pass(context.stop());
        test::throw_cancelled();
    };
    engine->handle("launch", {forever, undone, true});
    handle([](auto&) { return OperationResult{}; }, nullptr, true);
    engine->recover();
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(wait(launch)->status == OperationStatus::cancelled);
    CHECK(sqlite.get("undone/" + launch));
}

TEST_CASE_METHOD(RecoveryFixture, "a recovered operation that only queues lets its holder finish") {
    const OperationSpec work{.kind = "test", .claims = {"x"}, .cancellable = true};
    const auto holder = leave_behind(OperationStatus::running, work);
    OperationSpec waiting = work;
    waiting.cancel_holders = false;
    const auto next = leave_behind(OperationStatus::running, waiting);
    engine = make_engine();
    handle([](OperationContext&) { return OperationResult{}; }, nullptr, true);
    engine->recover();
    CHECK(wait(holder)->status == OperationStatus::success);
    CHECK(wait(next)->status == OperationStatus::success);
}

TEST_CASE_METHOD(RecoveryFixture, "a recovered operation can be cancelled") {
    const auto id = leave_behind(OperationStatus::running, {.kind = "test", .cancellable = true});
    engine = make_engine();
    handle(
        [&](OperationContext& context) -> OperationResult {
            gate.pass(context.stop());
            test::throw_cancelled();
        },
        undone, true);
    engine->recover();
    gate.await();
    engine->cancel(id);
    CHECK(wait(id)->status == OperationStatus::cancelled);
}

TEST_CASE_METHOD(RecoveryFixture,
                 "stopping cancels what may be cancelled and leaves what can be repeated to the next start") {
    const auto work = [&](OperationContext& context) -> OperationResult {
        gate.pass(context.stop());
        test::throw_cancelled();
    };
    handle(work, undone);
    engine->handle("repeatable", {work, undone, true});
    const auto cancelled = start({.cancellable = true});
    const auto firm = start();
    const auto repeatable = start({.kind = "repeatable", .cancellable = true});
    gate.await(3);
    engine->stop(10s);
    CHECK(engine->get(cancelled)->status == OperationStatus::cancelled);
    CHECK(stored(cancelled).status == OperationStatus::cancelled);
    CHECK(stored(firm).status == OperationStatus::running);
    CHECK(stored(repeatable).status == OperationStatus::running);
    CHECK(told_of(repeatable) == Codes{105, 103});
    CHECK_FALSE(sqlite.get("undone/" + repeatable));

    engine = make_engine();
    handle([](auto&) { return OperationResult{}; }, undone);
    engine->handle("repeatable", {[](auto&) { return OperationResult{}; }, undone, true});
    engine->recover();
    CHECK(wait(firm)->err == "service restarted");
    CHECK(wait(repeatable)->status == OperationStatus::success);
}

TEST_CASE_METHOD(RecoveryFixture, "work that ends well while the service stops is a success") {
    handle([&](OperationContext& context) {
        gate.pass(context.stop());
        return OperationResult{};
    });
    const auto id = start();
    gate.await();
    engine->stop(10s);
    CHECK(stored(id).status == OperationStatus::success);
}

TEST_CASE_METHOD(RecoveryFixture, "stopping tells detached work, which is then left") {
    std::promise<void> detached;
    handle(
        [&](OperationContext& context) {
            auto completion = std::make_shared<std::shared_ptr<OperationCompletion>>();
            *completion = context.detach(
                [completion] { (*completion)->fail(Error(ErrorCode::cancelled, "service is stopping")); });
            detached.set_value();
            return OperationResult{};
        },
        undone, true);
    const auto id = start({.cancellable = true});
    detached.get_future().wait();
    engine->stop(10s);
    CHECK(stored(id).status == OperationStatus::running);
    CHECK_FALSE(sqlite.get("undone/" + id));
}

TEST_CASE_METHOD(RecoveryFixture, "stopping ends after its grace, whatever the work does") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    const auto id = start();
    gate.await();
    std::promise<OperationStatus> waiter;
    engine->when_final(id, std::nullopt, [&](auto record) { waiter.set_value(record->status); });
    auto stopped = std::async(std::launch::async, [&] { engine->stop(10s); });
    test::eventually("the engine has stopped", [&] {
        clock.advance(10s);
        return stopped.wait_for(0s) == std::future_status::ready;
    });
    CHECK(waiter.get_future().get() == OperationStatus::running);
    CHECK(stored(id).status == OperationStatus::running);
    gate.open();
}

TEST_CASE_METHOD(RecoveryFixture,
                 "a stopped engine takes no work, and leaves queued work to the next start") {
    engine = make_engine({.workers = 1});
    std::atomic<int> runs = 0;
    handle([&](OperationContext& context) -> OperationResult {
        ++runs;
        gate.pass(context.stop());
        test::throw_cancelled();
    });
    start();
    gate.await();
    const auto queued = start();
    engine->stop(10s);
    CHECK(code_of([&] { start(); }) == ErrorCode::unavailable);
    engine.reset();
    CHECK(stored(queued).status == OperationStatus::running);
    CHECK(runs == 1);
}

TEST_CASE_METHOD(RecoveryFixture, "who asks after the engine has stopped does not wait for what was left") {
    handle(
        [&](OperationContext& context) -> OperationResult {
            gate.pass(context.stop());
            test::throw_cancelled();
        },
        nullptr, true);
    const auto left = start();
    gate.await();
    engine->stop(std::chrono::hours(1));
    CHECK(wait(left)->status == OperationStatus::running);
}

TEST_CASE_METHOD(RecoveryFixture,
                 "an operation whose record was stored late is worked on by the next sweep") {
    const bool resumable = GENERATE(true, false);
    handle([](auto&) { return OperationResult{}; }, undone, resumable);
    const auto id = leave_behind(OperationStatus::running, {.kind = "test", .claims = {"a"}});
    engine->sweep();
    const auto record = wait(id);
    CHECK(record->status == (resumable ? OperationStatus::success : OperationStatus::failure));
    CHECK(record->err == (resumable ? "" : "it was accepted late: nobody was told of it"));
    CHECK_FALSE(engine->claimed("a"));
    engine->sweep();
    CHECK(told_of(id).size() == 1);
}

TEST_CASE_METHOD(RecoveryFixture, "a sweep leaves the operations alone that somebody works on") {
    std::atomic<int> runs = 0;
    handle(
        [&](auto&) {
            ++runs;
            gate.pass();
            return OperationResult{};
        },
        undone, true);
    const auto id = start({.claims = {"a"}});
    gate.await();
    engine->sweep();
    gate.open();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(runs == 1);
}

}  // namespace
}  // namespace svc
