// Work that gives up: for a deletion that waits for its claims, whoever of the two was first, or by itself.
#include <catch2/catch.hpp>

#include "tests/unit/operations/engine_fixture.h"

namespace svc {
namespace {

using test::Codes;
using test::message_of;
using OvertakenFixture = test::EngineFixture;

TEST_CASE_METHOD(OvertakenFixture,
                 "a holder that sees a deletion before it is asked to stop ends as cancelled") {
    engine->handle("launch", {[&](auto&) -> OperationResult { gate.pass(), test::throw_cancelled(); },
                              [](const Operation&, const Error&) {
                                  return OperationResult{.last = Batch().put("undone", "1")};
                              },
                              false});
    handle([](auto&) { return OperationResult{}; });
    const auto launch = start({.kind = "launch", .claims = {"x"}, .cancellable = true});
    gate.await();
    store.after_next([&] {  // of the deletion, which has asked nobody yet
        gate.open();
        wait(launch);
    });
    const auto deletion = start({.claims = {"x"}, .wait_for_claims = true});
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(engine->get(launch)->status == OperationStatus::cancelled);
    CHECK(engine->get(launch)->err == "Operation cancelled");
    CHECK(told_of(launch) == Codes{105, 103, 401});
    CHECK(sqlite.get("undone"));
}

TEST_CASE_METHOD(OvertakenFixture, "a holder that is past asking when its deletion comes ends as cancelled") {
    engine->handle("launch", {[&](auto&) {
                                  OperationResult result;
                                  result.stage = [&](Batch&) { gate.pass(), test::throw_cancelled(); };
                                  return result;
                              },
                              nullptr, false});
    handle([](auto&) { return OperationResult{}; });
    const auto launch = start({.kind = "launch", .claims = {"x"}, .cancellable = true});
    gate.await();
    CHECK(message_of([&] { engine->cancel(launch); }) == "Only running operations can be cancelled");
    const auto deletion = start({.claims = {"x"}, .wait_for_claims = true});
    gate.open();
    CHECK(wait(deletion)->status == OperationStatus::success);
    CHECK(engine->get(launch)->status == OperationStatus::cancelled);
    CHECK(engine->get(launch)->err == "Operation cancelled");
}

TEST_CASE_METHOD(OvertakenFixture, "work that gives up although nobody cancels it fails with its own words") {
    engine->handle("launch",
                   {[&](auto&) -> OperationResult { gate.pass(), test::throw_cancelled(); }, nullptr, false});
    handle([](auto&) { return OperationResult{}; });
    const bool cancellable = GENERATE(false, true);
    const auto launch = start({.kind = "launch", .claims = {"x"}, .cancellable = cancellable});
    gate.await();
    // Of a holder that may be cancelled, this one only waits.
    start({.claims = {"x"}, .wait_for_claims = true, .cancel_holders = !cancellable});
    gate.open();
    CHECK(wait(launch)->status == OperationStatus::failure);
    CHECK(wait(launch)->err == "work was told to stop");
}

}  // namespace
}  // namespace svc
