#include "libsvc/operations/engine.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <thread>

#include "tests/support/eventually.h"
#include "tests/unit/operations/engine_fixture.h"

namespace svc {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::Codes;
using test::EngineFixture;
using test::Gate;
using test::message_of;
using BareEngineFixture = EngineFixture;

TEST_CASE_METHOD(BareEngineFixture,
                 "start stores record and batch in one commit and announces pending before running") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    OperationSpec spec{
        .kind = "test", .description = "Testing", .resources = {{"images", {"/1.0/images/a"}}}};
    spec.requestor = "uid=0";
    const auto record = engine->start(spec, Batch().put("images/a", "{}"));
    CHECK(store.commits() == 1);
    CHECK(told_of(record->id.str()) == Codes{105, 103});
    CHECK(sqlite.get("images/a"));
    CHECK(stored(record->id.str()).status == OperationStatus::running);
    CHECK(record->status == OperationStatus::running);
    CHECK(record->requestor == "uid=0");
    CHECK(record->created_at == clock.now());
    gate.open();
}

TEST_CASE_METHOD(BareEngineFixture, "a start whose commit fails leaves nothing behind") {
    handle([](auto&) { return OperationResult{}; });
    store.fail_next(ErrorCode::exhausted);
    CHECK(code_of([&] { start({.claims = {"images/a"}}, Batch().put("images/a", "{}")); }) ==
          ErrorCode::exhausted);
    CHECK(engine->list().empty());
    CHECK_FALSE(engine->claimed("images/a"));
    CHECK(told_of("00000000-0000-4000-8000-000000000001").empty());
    sqlite.commit(Batch().put("images/a", "{}"));
    CHECK(code_of([&] { start({}, Batch().expect("images/a", 0).put("images/a", "")); }) ==
          ErrorCode::conflict);
    CHECK(engine->list().empty());
}

TEST_CASE_METHOD(BareEngineFixture, "a start whose commit was made but not answered goes on") {
    handle([](auto&) { return OperationResult{}; });
    store.hide_next();
    CHECK(wait(start())->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "who finds an operation before its start has returned waits for its end") {
    handle([](auto&) { return OperationResult{}; });
    std::promise<OperationStatus> told;
    store.after_next([&] {
        const auto all = engine->list();
        REQUIRE(all.size() == 1);
        engine->when_final(all[0]->id.str(), std::nullopt,
                           [&](const auto& record) { told.set_value(record->status); });
    });
    start();
    CHECK(told.get_future().get() == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture, "an id given by the caller is used, and refused the second time") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    const std::string id = ids.uuid();
    CHECK(start({.claims = {"x"}, .id = id}) == id);
    CHECK(code_of([&] { start({.claims = {"y"}, .id = id}); }) == ErrorCode::conflict);
    CHECK(engine->claimed("x"));
    CHECK_FALSE(engine->claimed("y"));
    gate.open();
    wait(id);
    CHECK(code_of([&] { start({.id = id}); }) == ErrorCode::conflict);
    CHECK(engine->get(id)->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture, "an operation nobody handles is refused") {
    CHECK(code_of([&] { start({.kind = "unheard"}); }) == ErrorCode::internal);
    CHECK(store.commits() == 0);
}

TEST_CASE_METHOD(BareEngineFixture, "a claimed object is busy until the operation has ended") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    const auto id = start({.description = "Creating container", .claims = {"instances/a"}});
    CHECK(code_of([&] { start({.claims = {"instances/a"}}); }) == ErrorCode::busy);
    CHECK(message_of([&] { start({.claims = {"instances/a"}}); }) ==
          "Creating container already in progress");
    CHECK(engine->claimed("instances/a"));
    const auto other = start({.claims = {"instances/b"}});
    gate.open();
    wait(id);
    CHECK(wait(start({.claims = {"instances/a"}}))->status == OperationStatus::success);
    CHECK(wait(other)->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture, "whoever knows that an operation has ended does not meet busy") {
    handle([](auto&) { return OperationResult{}; });
    for (int i = 0; i < 200; ++i) {
        const auto id = start({.claims = {"instances/a"}});
        test::eventually("the operation has ended", [&] { return is_final(engine->get(id)->status); });
    }
    CHECK(engine->list().size() == 200);
}

TEST_CASE_METHOD(BareEngineFixture, "whoever is told what an operation changed does not meet busy") {
    std::string next;
    handle([&](OperationContext& context) {
        OperationResult result;
        if (context.operation().arguments.as_int() == 1)
            result.after = [&] { next = start({.claims = {"instances/a"}, .arguments = 2}); };
        return result;
    });
    wait(start({.claims = {"instances/a"}, .arguments = 1}));
    REQUIRE_FALSE(next.empty());
    CHECK(wait(next)->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture, "operations beyond the queue's length are refused") {
    engine = make_engine({.workers = 1, .max_queued = 2});
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    start();
    gate.await();
    start();
    const auto last = start();
    CHECK(message_of([&] { start(); }) == "operation queue is full");
    CHECK(code_of([&] { start(); }) == ErrorCode::exhausted);
    CHECK(engine->list().size() == 3);
    gate.open();
    wait(last);
    CHECK_NOTHROW(start());
}

TEST_CASE_METHOD(BareEngineFixture,
                 "a cancelled operation passes through Cancelling, is undone and ends as Cancelled") {
    std::atomic<bool> asked = false;
    handle(
        [&](OperationContext& context) {
            if (!gate.pass(context.stop())) {
                asked = context.cancel_requested();
                test::throw_cancelled();
            }
            return OperationResult{};
        },
        [](const Operation&, const Error&) { return OperationResult{.last = Batch().put("undone", "1")}; });
    const auto id = start({.cancellable = true});
    gate.await();
    engine->cancel(id);
    const auto record = wait(id);
    CHECK(asked);
    CHECK(record->status == OperationStatus::cancelled);
    CHECK(record->err == "Operation cancelled");
    CHECK_FALSE(record->may_cancel);
    CHECK(told_of(id) == Codes{105, 103, 104, 401});
    CHECK(store.commits() == 3);
    CHECK(sqlite.get("undone"));
}

TEST_CASE_METHOD(BareEngineFixture, "Cancelling is in the store before the work hears of it") {
    std::string id;
    std::atomic<bool> known = false;
    handle([&](OperationContext& context) -> OperationResult {
        const std::stop_callback seen(context.stop(),
                                      [&] { known = stored(id).status == OperationStatus::cancelling; });
        gate.pass(context.stop());
        test::throw_cancelled();
    });
    id = ids.uuid();
    start({.cancellable = true, .id = id});
    gate.await();
    engine->cancel(id);
    wait(id);
    CHECK(known);
}

TEST_CASE_METHOD(BareEngineFixture, "a cancelled operation that had not begun is undone without running") {
    engine = make_engine({.workers = 1});
    std::atomic<int> runs = 0, undone = 0;
    handle([&](auto&) { return ++runs, gate.pass(), OperationResult{}; },
           [&](const Operation&, const Error&) { return ++undone, OperationResult{}; });
    start();
    gate.await();
    const auto queued = start({.cancellable = true});
    engine->cancel(queued);
    gate.open();
    CHECK(wait(queued)->status == OperationStatus::cancelled);
    CHECK(runs == 1);
    CHECK(undone == 1);
}

TEST_CASE_METHOD(BareEngineFixture, "work that ends by itself after a cancellation keeps its own end") {
    std::atomic<bool> fails = false;
    handle([&](auto&) {
        gate.pass();
        if (fails) throw Error(ErrorCode::internal, "disk broke");
        return OperationResult{};
    });
    fails = GENERATE(false, true);
    const auto id = start({.cancellable = true});
    gate.await();
    engine->cancel(id);
    gate.open();
    CHECK(wait(id)->status == (fails ? OperationStatus::failure : OperationStatus::success));
    CHECK(wait(id)->err == (fails ? "disk broke" : ""));
    CHECK(told_of(id) == Codes{105, 103, 104, fails ? 400 : 200});
}

TEST_CASE_METHOD(BareEngineFixture, "what cannot be cancelled says why") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    CHECK(code_of([&] { engine->cancel("none"); }) == ErrorCode::not_found);
    CHECK(message_of([&] { engine->cancel("none"); }) == "operation not found");
    const auto firm = start();
    CHECK(message_of([&] { engine->cancel(firm); }) == "This operation can't be cancelled");
    const auto id = start({.cancellable = true});
    gate.await(2);
    engine->cancel(id);
    CHECK(message_of([&] { engine->cancel(id); }) == "Only running operations can be cancelled");
    gate.open();
    wait(firm);
    CHECK(message_of([&] { engine->cancel(firm); }) == "Only running operations can be cancelled");
    CHECK(code_of([&] { engine->cancel(firm); }) == ErrorCode::invalid_argument);
}

TEST_CASE_METHOD(BareEngineFixture, "a full disk does not hinder a cancellation") {
    handle([&](OperationContext& context) -> OperationResult {
        gate.pass(context.stop());
        test::throw_cancelled();
    });
    const auto id = start({.cancellable = true});
    gate.await();
    store.fail_next(ErrorCode::exhausted);
    engine->cancel(id);
    CHECK(wait(id)->status == OperationStatus::cancelled);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "a deletion cancels the holder of its claim and runs after it, deletions in their order") {
    Guarded<std::vector<std::string>> order;
    engine->handle("launch", {[&](OperationContext& context) -> OperationResult {
                                  gate.pass(context.stop());
                                  test::throw_cancelled();
                              },
                              [&](const Operation&, const Error&) {
                                  order.with([](auto& o) { o.push_back("launch undone"); });
                                  return OperationResult{};
                              },
                              false});
    handle([&](OperationContext& context) {
        order.with([&](auto& o) { o.push_back(context.operation().arguments.as_string()); });
        return OperationResult{};
    });
    const auto launch = start({.kind = "launch", .claims = {"instances/a"}, .cancellable = true});
    gate.await();
    const auto first = start({.claims = {"instances/a"}, .arguments = "first", .wait_for_claims = true});
    const auto second = start({.claims = {"instances/a"}, .arguments = "second", .wait_for_claims = true});
    wait(second);
    CHECK(engine->get(launch)->status == OperationStatus::cancelled);
    CHECK(engine->get(first)->status == OperationStatus::success);
    CHECK(order.with([](auto& o) { return o; }) ==
          std::vector<std::string>{"launch undone", "first", "second"});
}

TEST_CASE_METHOD(BareEngineFixture, "a deletion waits for a holder that cannot be cancelled") {
    engine->handle("firm", {[&](auto&) { return gate.pass(), OperationResult{}; }, nullptr, false});
    std::atomic<int> runs = 0;
    handle([&](auto&) { return ++runs, OperationResult{}; });
    start({.kind = "firm", .claims = {"x"}});
    gate.await();
    const auto deletion = start({.claims = {"x"}, .wait_for_claims = true});
    CHECK(engine->wait(deletion, 0ns)->status == OperationStatus::running);
    CHECK(runs == 0);
    gate.open();
    CHECK(wait(deletion)->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "who only queues waits for a holder that could be cancelled, and comes in its turn") {
    engine->handle("change", {[&](auto& context) {
                                  if (!gate.pass(context.stop())) test::throw_cancelled();
                                  return OperationResult{};
                              },
                              nullptr, false});
    std::atomic<int> runs = 0;
    handle([&](auto&) { return ++runs, OperationResult{}; });
    const auto holder = start({.kind = "change", .claims = {"x"}, .cancellable = true});
    gate.await();
    const auto next = start({.claims = {"x"}, .wait_for_claims = true, .cancel_holders = false});
    CHECK(engine->get(holder)->status == OperationStatus::running);
    CHECK(runs == 0);
    gate.open();
    CHECK(wait(next)->status == OperationStatus::success);
    CHECK(engine->get(holder)->status == OperationStatus::success);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "progress merges into the metadata in memory and tells of it once a second") {
    Gate first, second;
    handle([&](OperationContext& context) {
        context.progress(Json::object({{"percent", 1}, {"step", "unpack"}}));
        context.progress(Json::object({{"percent", 2}}));
        first.pass();
        context.progress(Json::object({{"percent", 3}}));
        second.pass();
        return OperationResult{};
    });
    const auto id = start({.metadata = Json::object({{"name", "a"}})});
    first.await();
    CHECK(engine->get(id)->metadata == Json::object({{"name", "a"}, {"percent", 2}, {"step", "unpack"}}));
    CHECK(told_of(id) == Codes{105, 103, 103});
    clock.advance(1s);
    first.open();
    second.await();
    CHECK(engine->get(id)->metadata.at("percent").as_int() == 3);
    CHECK(engine->get(id)->updated_at == clock.now());
    CHECK(told_of(id) == Codes{105, 103, 103, 103});
    CHECK(store.commits() == 1);
    second.open();
    CHECK(wait(id)->metadata.at("percent").as_int() == 3);
    CHECK(stored(id).metadata.at("percent").as_int() == 3);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "secrets in the metadata are told to who starts the operation, and kept nowhere") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    const Json secrets = Json::object({{"fds", Json::object({{"0", "s3cret"}})}, {"command", "sh"}});
    const auto record = engine->start({.kind = "test", .cancellable = true, .metadata = secrets}, {});
    const std::string id = record->id.str();
    gate.await();
    engine->cancel(id);
    CHECK(record->metadata == secrets);
    CHECK(engine->get(id)->metadata == Json::object({{"command", "sh"}}));
    CHECK(sqlite.get("operations/" + id)->value.find("s3cret") == std::string::npos);
    gate.open();
    CHECK(wait(id)->metadata == Json::object({{"command", "sh"}}));
    CHECK(sqlite.get("operations/" + id)->value.find("s3cret") == std::string::npos);
    told.with([](const auto& events) {
        for (const Json& event : events) CHECK(event.dump().find("s3cret") == std::string::npos);
    });
}

TEST_CASE_METHOD(BareEngineFixture, "a wait gives the record as it is when its time is over") {
    handle([&](auto&) { return gate.pass(), OperationResult{}; });
    const auto id = start();
    CHECK(engine->wait(id, 0ns)->status == OperationStatus::running);
    CHECK(engine->wait(id, -5s)->status == OperationStatus::running);
    std::promise<OperationStatus> timed, ended;
    std::atomic<int> calls = 0;
    engine->when_final(id, 10s, [&](auto record) { ++calls, timed.set_value(record->status); });
    engine->when_final(id, 100s, [&](auto record) { ended.set_value(record->status); });
    clock.advance(10s);
    CHECK(timed.get_future().get() == OperationStatus::running);
    gate.open();
    CHECK(ended.get_future().get() == OperationStatus::success);
    CHECK(engine->wait(id, 100s)->status == OperationStatus::success);
    clock.advance(1000s);
    CHECK(calls == 1);
    CHECK(code_of([&] { engine->wait("none", std::nullopt); }) == ErrorCode::not_found);
}

TEST_CASE_METHOD(BareEngineFixture,
                 "sweeping keeps the newest finished operations, and forgets all that are too old") {
    engine = make_engine({.workers = 1, .keep_finished = 2, .keep_for = 1h});
    handle([&](OperationContext& context) {
        if (context.operation().arguments.is_bool()) gate.pass();
        return OperationResult{};
    });
    std::vector<std::string> done;
    for (int i = 0; i < 4; ++i) {
        done.push_back(start());
        wait(done.back());
        clock.advance(1s);
    }
    const auto running = start({.arguments = true});
    engine->sweep();
    CHECK(engine->list().size() == 5);  // too fresh to be forgotten for their number
    clock.advance(10s);
    engine->sweep();
    CHECK(engine->list().size() == 3);
    CHECK(code_of([&] { engine->get(done[1]); }) == ErrorCode::not_found);
    CHECK_NOTHROW(engine->get(done[2]));
    clock.advance(1h);
    engine->sweep();
    CHECK(engine->list().size() == 1);
    CHECK(engine->get(running)->status == OperationStatus::running);
    gate.open();
}

TEST_CASE_METHOD(BareEngineFixture, "a date that is set makes no operation older or younger than it is") {
    const auto step = GENERATE(2h, -2h);
    engine = make_engine({.workers = 1, .keep_finished = 1, .keep_for = 1h});
    handle([](auto&) { return OperationResult{}; });
    const auto first = start();
    wait(first);
    engine->sweep();
    clock.advance(1s);
    clock.step(step);
    const auto second = start();
    wait(second);
    engine->sweep();
    CHECK(engine->list().size() == 2);
    clock.advance(10s);
    engine->sweep();
    CHECK(code_of([&] { engine->get(first); }) == ErrorCode::not_found);
    CHECK_NOTHROW(engine->get(second));
    clock.advance(1h);
    engine->sweep();
    CHECK(engine->list().empty());
}

TEST_CASE_METHOD(BareEngineFixture, "operations are listed in the order they were started") {
    handle([](auto&) { return OperationResult{}; });
    std::vector<std::string> expected;
    for (int i = 0; i < 5; ++i) {
        expected.insert(expected.begin(), "0000000" + std::to_string(9 - i) + "-0000-4000-8000-000000000000");
        clock.advance(-1s);
        wait(start({.id = expected.front()}));
    }
    std::vector<std::string> listed;
    for (const auto& record : engine->list()) listed.push_back(record->id.str());
    CHECK(listed == expected);
}

}  // namespace
}  // namespace svc
