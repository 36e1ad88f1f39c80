#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <future>
#include <random>
#include <thread>

#include "tests/support/eventually.h"
#include "tests/unit/operations/engine_fixture.h"

namespace svc {
namespace {

using namespace std::chrono_literals;
using test::code_of;
using test::Codes;
using EndingFixture = test::EngineFixture;

OperationResult putting(const std::string& key) {
    return {.last = Batch().put(key, "1")};
}

TEST_CASE_METHOD(EndingFixture, "the last changes of the work and the final record are one commit") {
    handle([](auto&) {
        OperationResult result = putting("made");
        result.metadata = Json::object({{"return", 0}});
        return result;
    });
    const auto record = wait(start({.cancellable = true, .metadata = Json::object({{"name", "a"}})}));
    CHECK(store.commits() == 2);
    CHECK(sqlite.get("made")->revision == sqlite.get("operations/" + record->id.str())->revision);
    CHECK(record->status == OperationStatus::success);
    CHECK(record->metadata == Json::object({{"return", 0}}));
    CHECK_FALSE(record->may_cancel);
    CHECK(operation_to_store(stored(record->id.str())) == operation_to_store(*record));
    CHECK(told_of(record->id.str()) == Codes{105, 103, 200});
}

TEST_CASE_METHOD(EndingFixture, "what changed is told after the commit, before the end") {
    std::atomic<bool> committed = false, told_before = true;
    handle([&](OperationContext& context) {
        OperationResult result = putting("made");
        result.after = [&, id = context.operation().id.str()] {
            committed = sqlite.get("made").has_value();
            told_before = told_of(id).size() == 3;
            throw std::runtime_error("does not matter");
        };
        return result;
    });
    CHECK(wait(start())->status == OperationStatus::success);
    CHECK(committed);
    CHECK_FALSE(told_before);
}

TEST_CASE_METHOD(EndingFixture, "failing work is undone, in one commit with its end") {
    const bool foreign = GENERATE(false, true);
    std::string reason;
    handle(
        [&](auto&) -> OperationResult {
            if (foreign) throw std::runtime_error("no such luck");
            throw Error(ErrorCode::exhausted, "no such luck");
        },
        [&](const Operation& operation, const Error& error) {
            reason = error.what();
            return putting("undone/" + operation.arguments.as_string());
        });
    const auto record = wait(start({.cancellable = true, .arguments = "a"}));
    CHECK(record->status == OperationStatus::failure);
    CHECK(record->err == "no such luck");
    CHECK_FALSE(record->may_cancel);
    CHECK(reason == "no such luck");
    CHECK(sqlite.get("undone/a")->revision == sqlite.get("operations/" + record->id.str())->revision);
    CHECK(store.commits() == 2);
    CHECK(told_of(record->id.str()) == Codes{105, 103, 400});
}

TEST_CASE_METHOD(EndingFixture, "an operation whose undoing fails ends with the original error") {
    const bool throws = GENERATE(true, false);
    handle([](auto&) -> OperationResult { throw Error(ErrorCode::internal, "first"); },
           [&](const Operation&, const Error&) -> OperationResult {
               if (throws) throw Error(ErrorCode::internal, "second");
               return {.last = Batch().expect("absent", 99)};
           });
    const auto id = start();
    CHECK(wait(id)->err == "first");
    CHECK(stored(id).status == OperationStatus::failure);
}

TEST_CASE_METHOD(EndingFixture, "last changes that meet a conflict make the operation fail and be undone") {
    handle([](auto&) { return OperationResult{.last = Batch().expect("absent", 99)}; },
           [](const Operation&, const Error&) { return putting("undone"); });
    const auto id = start();
    CHECK(wait(id)->status == OperationStatus::failure);
    CHECK_FALSE(wait(id)->err.empty());
    CHECK(stored(id).status == OperationStatus::failure);
    CHECK(sqlite.get("undone"));
}

TEST_CASE_METHOD(EndingFixture, "staged changes are staged anew when they meet a conflict") {
    int staged = 0;
    handle([&](auto&) {
        OperationResult result = putting("made");
        result.stage = [&](Batch& last) {
            if (++staged < 3) last.expect("absent", 99);
            last.put("staged", std::to_string(staged));
        };
        return result;
    });
    CHECK(wait(start())->status == OperationStatus::success);
    CHECK(sqlite.get("staged")->value == "3");
    CHECK(sqlite.get("made"));
}

TEST_CASE_METHOD(EndingFixture, "staging that throws or never fits makes the operation fail") {
    const bool throws = GENERATE(true, false);
    handle([&](auto&) {
        OperationResult result;
        result.stage = [&](Batch& last) {
            if (throws) throw Error(ErrorCode::not_found, "container not found");
            last.expect("absent", 99);
        };
        return result;
    });
    const auto id = start();
    CHECK(wait(id)->status == OperationStatus::failure);
    CHECK(stored(id).status == OperationStatus::failure);
    if (throws) CHECK(wait(id)->err == "container not found");
}

TEST_CASE_METHOD(EndingFixture, "the end is stored again and again while the store is away") {
    handle([&](auto&) { return gate.pass(), putting("made"); });
    const auto id = start();
    gate.await();
    store.fail_commit(2);
    store.fail_commit(3);
    gate.open();
    test::eventually("the end is stored", [&] {
        clock.advance(1s);
        return is_final(engine->get(id)->status);
    });
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(sqlite.get("made"));
    CHECK(store.commits() == 4);
}

TEST_CASE_METHOD(EndingFixture, "an end that was stored without an answer counts") {
    handle(
        [&](auto&) {
            return gate.pass(), OperationResult{.last = Batch().expect("made", 0).put("made", "1")};
        },
        [](const Operation&, const Error&) { return putting("undone"); });
    const auto id = start();
    gate.await();
    store.hide_next();
    gate.open();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(stored(id).status == OperationStatus::success);
    CHECK_FALSE(sqlite.get("undone"));
}

TEST_CASE_METHOD(EndingFixture,
                 "an operation ends in memory when nothing can be stored, and is stored by a sweep") {
    handle([&](auto&) { return gate.pass(), putting("made"); });
    const auto id = start({.claims = {"x"}});
    gate.await();
    for (std::size_t i = 2; i <= 4; ++i) store.fail_commit(i, ErrorCode::exhausted);
    gate.open();
    const auto record = wait(id);
    CHECK(record->status == OperationStatus::failure);
    CHECK(record->err == "commit failed for a test");
    CHECK(stored(id).status == OperationStatus::running);
    CHECK_FALSE(engine->claimed("x"));
    CHECK(engine->list()[0]->status == OperationStatus::failure);
    engine->sweep();
    CHECK(stored(id).status == OperationStatus::failure);
    CHECK(engine->get(id)->status == OperationStatus::failure);
}

TEST_CASE_METHOD(EndingFixture, "an undo that the store refuses once is stored all the same, with the end") {
    const auto code = GENERATE(ErrorCode::internal, ErrorCode::exhausted);
    std::atomic<int> told_after = 0;
    handle([](auto&) -> OperationResult { throw Error(ErrorCode::exhausted, "no room"); },
           [&](const Operation&, const Error&) {
               OperationResult result = putting("undone");
               result.after = [&] { ++told_after; };
               return result;
           });
    store.fail_commit(2, code);
    const auto id = start();
    CHECK(wait(id)->err == "no room");
    CHECK(sqlite.get("undone")->revision == sqlite.get("operations/" + id)->revision);
    CHECK(told_after == 1);
}

TEST_CASE_METHOD(EndingFixture,
                 "an undo that the store has no room for is made again by a sweep, before the end") {
    const bool cancelled = GENERATE(false, true);
    std::atomic<int> undos = 0;
    handle(
        [&](OperationContext& context) -> OperationResult {
            gate.pass(context.stop());
            if (cancelled) test::throw_cancelled();
            throw Error(ErrorCode::unsupported, "not here");
        },
        [&](const Operation&, const Error& error) {
            const bool same = error.code() == (cancelled ? ErrorCode::cancelled : ErrorCode::unsupported);
            if (same) ++undos;
            return putting("undone");
        });
    const auto id = start({.claims = {"x"}, .cancellable = true});
    gate.await();
    const std::size_t end = cancelled ? 3 : 2;
    for (const std::size_t n : {end, end + 1}) store.fail_commit(n, ErrorCode::exhausted);
    if (cancelled) engine->cancel(id);
    gate.open();
    test::eventually("the undo was refused", [&] { return store.commits() == end + 1; });
    CHECK_FALSE(is_final(engine->get(id)->status));
    CHECK(engine->claimed("x"));
    test::eventually("a sweep has made it", [&] {
        engine->sweep();
        return is_final(engine->get(id)->status);
    });
    CHECK(wait(id)->status == (cancelled ? OperationStatus::cancelled : OperationStatus::failure));
    CHECK(sqlite.get("undone")->revision == sqlite.get("operations/" + id)->revision);
    CHECK(undos == 2);
    CHECK_FALSE(engine->claimed("x"));
    CHECK(engine->load().queued + engine->load().running == 0);
}

TEST_CASE_METHOD(EndingFixture, "an undo that the store has no room for is made by the next process") {
    const auto undo = [](const Operation&, const Error&) { return putting("undone"); };
    handle([](auto&) -> OperationResult { throw Error(ErrorCode::internal, "broke"); }, undo);
    for (const std::size_t n : {2, 3}) store.fail_commit(n, ErrorCode::exhausted);
    const auto id = start();
    test::eventually("the undo was refused", [&] { return store.commits() == 3; });
    engine->stop(std::chrono::hours(1));
    CHECK_FALSE(sqlite.get("undone"));
    engine = make_engine();
    handle([](auto&) { return OperationResult{}; }, undo);
    engine->recover();
    CHECK(wait(id)->status == OperationStatus::failure);
    CHECK(sqlite.get("undone"));
}

TEST_CASE_METHOD(EndingFixture, "an undo that never fits is not told of") {
    std::atomic<bool> told_after = false;
    handle([](auto&) -> OperationResult { throw Error(ErrorCode::internal, "broke"); },
           [&](const Operation&, const Error&) {
               OperationResult result{.last = Batch().expect("absent", 99)};
               result.after = [&] { told_after = true; };
               return result;
           });
    CHECK(wait(start())->err == "broke");
    CHECK_FALSE(told_after);
}

TEST_CASE_METHOD(EndingFixture, "detached work holds no worker and ends when it is completed") {
    engine = make_engine({.workers = 1});
    Guarded<std::vector<std::shared_ptr<OperationCompletion>>> waiting;
    handle([&](OperationContext& context) {
        auto completion = context.detach([] {});
        waiting.with([&](auto& w) { w.push_back(completion); });
        return putting("ignored");
    });
    engine->handle("short", {[](auto&) { return OperationResult{}; }, nullptr, false});
    const auto first = start();
    const auto second = start();
    CHECK(wait(start({.kind = "short"}))->status == OperationStatus::success);
    const auto completions = waiting.with([](auto& w) { return w; });
    REQUIRE(completions.size() == 2);
    CHECK(engine->wait(first, 0ns)->status == OperationStatus::running);
    completions[0]->succeed([] { return putting("made"); });
    completions[0]->fail(Error(ErrorCode::internal, "too late"));
    completions[1]->fail(Error(ErrorCode::internal, "never came up"));
    completions[1]->succeed([] { return putting("too late"); });
    CHECK(wait(first)->status == OperationStatus::success);
    CHECK(wait(second)->err == "never came up");
    CHECK(sqlite.get("made"));
    CHECK_FALSE(sqlite.get("ignored"));
    CHECK_FALSE(sqlite.get("too late"));
}

TEST_CASE_METHOD(EndingFixture, "the last step of detached work may fail") {
    handle(
        [](OperationContext& context) {
            context.detach([] {})->succeed(
                []() -> OperationResult { throw Error(ErrorCode::internal, "container is gone"); });
            return OperationResult{};
        },
        [](const Operation&, const Error&) { return putting("undone"); });
    CHECK(wait(start())->err == "container is gone");
    CHECK(sqlite.get("undone"));
}

TEST_CASE_METHOD(EndingFixture, "work completed by another thread keeps its claims until it has returned") {
    std::shared_ptr<OperationCompletion> completion;
    handle([&](OperationContext& context) {
        completion = context.detach([] {});
        gate.pass();
        return OperationResult{};
    });
    const auto id = start({.claims = {"x"}});
    gate.await();
    completion->succeed([] { return putting("made"); });
    CHECK(engine->claimed("x"));
    CHECK_FALSE(sqlite.get("made"));
    gate.open();
    CHECK(wait(id)->status == OperationStatus::success);
    CHECK(sqlite.get("made"));
}

TEST_CASE_METHOD(EndingFixture, "detached work that throws fails, and so does work that is given up") {
    std::shared_ptr<OperationCompletion> kept;
    const bool throws = GENERATE(true, false);
    handle([&](OperationContext& context) {
        if (!throws) return context.detach(nullptr), OperationResult{};
        kept = context.detach(nullptr);
        throw Error(ErrorCode::internal, "broke");
    });
    CHECK(wait(start())->err == (throws ? "broke" : "the work was given up without a result"));
}

TEST_CASE_METHOD(EndingFixture, "detached work hears of a cancellation once, also of an earlier one") {
    std::atomic<int> calls = 0;
    const bool early = GENERATE(true, false);
    handle([&](OperationContext& context) {
        if (early) gate.pass();
        auto completion = std::make_shared<std::shared_ptr<OperationCompletion>>();
        const auto on_stop = [&, completion] {
            ++calls;
            if (*completion) (*completion)->fail(Error(ErrorCode::cancelled, "stopped"));
        };
        *completion = context.detach(on_stop);
        if (calls > 0) on_stop();
        if (!early) gate.pass();
        return OperationResult{};
    });
    const auto id = start({.cancellable = true});
    gate.await();
    engine->cancel(id);
    gate.open();
    CHECK(wait(id)->status == OperationStatus::cancelled);
    CHECK(calls == (early ? 2 : 1));
}

TEST_CASE_METHOD(EndingFixture, "a completion may outlive the engine") {
    std::shared_ptr<OperationCompletion> completion;
    handle([&](OperationContext& context) {
        completion = context.detach([&] { gate.open(); });
        return OperationResult{};
    });
    const auto id = start();
    test::eventually("the operation is listed", [&] { return !engine->list().empty(); });
    engine.reset();
    if (completion) completion->succeed([] { return putting("too late"); });
    CHECK_FALSE(sqlite.get("too late"));
    CHECK(stored(id).status == OperationStatus::running);
}

TEST_CASE_METHOD(EndingFixture,
                 "who waits hears of the end after its event was told, even who asks in between") {
    handle([](auto&) { return OperationResult{}; });
    std::atomic<bool> telling = false;
    std::promise<bool> heard_while_telling;
    const auto asking = bus.subscribe({EventType::operation}, [&](const Event& event) {
        const Json record = Json::parse(*event.text).at("metadata");
        if (record.at("status_code") != Json(200)) return true;
        telling = true;
        engine->when_final(record.at("id").as_string(), std::nullopt,
                           [&](const auto&) { heard_while_telling.set_value(telling); });
        telling = false;
        return true;
    });
    start();
    CHECK_FALSE(heard_while_telling.get_future().get());
}

// Every legal life of an operation, as its events show it; progress repeats the state before it.
bool is_legal(Codes codes) {
    static const std::vector<Codes> lives{
        {105, 103, 200}, {105, 103, 400}, {105, 103, 104, 200}, {105, 103, 104, 400}, {105, 103, 104, 401}};
    const auto repeats = [](std::int64_t a, std::int64_t b) { return a == b && (a == 103 || a == 104); };
    codes.erase(std::unique(codes.begin(), codes.end(), repeats), codes.end());
    return std::find(lives.begin(), lives.end(), codes) != lives.end();
}

TEST_CASE_METHOD(EndingFixture,
                 "many threads starting, cancelling and waiting see only legal lives, each ended once") {
    handle(
        [](OperationContext& context) {
            const auto n = context.operation().arguments.as_int();
            context.progress(Json::object({{"n", n}}));
            if (n % 5 == 0) throw Error(ErrorCode::internal, "every fifth fails");
            if (n % 3 == 0) {
                auto completion = context.detach(nullptr);
                std::thread([completion] { completion->succeed([] { return OperationResult{}; }); }).join();
            }
            if (context.stop().stop_requested()) test::throw_cancelled();
            return OperationResult{};
        },
        [](const Operation&, const Error&) { return OperationResult{}; });
    Guarded<std::vector<std::string>> started;
    const auto client = [&](unsigned seed) {
        std::minstd_rand random(seed);
        for (int i = 0; i < 60; ++i) {
            const std::string claim = "instances/" + std::to_string(random() % 8);
            std::string id;
            try {
                id = start({.claims = {claim},
                            .cancellable = true,
                            .arguments = static_cast<int>(random() % 100),
                            .wait_for_claims = random() % 4 == 0});
            } catch (const Error& e) {
                if (e.code() != ErrorCode::busy) throw;
                continue;
            }
            started.with([&](auto& s) { s.push_back(id); });
            if (random() % 3 == 0) code_of([&] { engine->cancel(id); });
            if (random() % 2 == 0) wait(id);
            engine->list();
        }
    };
    {
        std::vector<std::jthread> clients;
        for (unsigned seed = 1; seed <= 4; ++seed) clients.emplace_back(client, seed);
    }
    for (const std::string& id : started.with([](auto& s) { return s; })) {
        CHECK(is_final(wait(id)->status));
        CAPTURE(told_of(id));
        CHECK(is_legal(told_of(id)));
        CHECK(is_final(stored(id).status));
    }
    for (int i = 0; i < 8; ++i) CHECK_FALSE(engine->claimed("instances/" + std::to_string(i)));
}

TEST_CASE_METHOD(EndingFixture, "an end that is stored late, while it is tried again, is stored once") {
    std::atomic<int> staged = 0;
    handle([&](auto&) {
        OperationResult result;
        result.stage = [&](Batch& batch) { batch.put("staged", std::to_string(++staged)); };
        return result;
    });
    store.hide_commit(2, ErrorCode::conflict);  // etcd committed it, and a repeated attempt met the change
    const auto record = wait(start());
    CHECK(record->status == OperationStatus::success);
    CHECK(staged == 1);
    CHECK(sqlite.get("staged")->value == "1");
}

}  // namespace
}  // namespace svc
