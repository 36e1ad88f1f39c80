// Which leaders a node obeys.
#include <catch2/catch.hpp>

#include <atomic>
#include <future>
#include <thread>

#include "libsvc/base/file.h"
#include "libsvc/cluster/term_guard.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

namespace {

struct GuardFolder {
    TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-term-"};
    std::filesystem::path file = directory.path() / "term";
};

}  // namespace

TEST_CASE("a leader that was followed by another one is refused, also after a restart") {
    const GuardFolder folder;
    {
        TermGuard guard(folder.file);
        CHECK(guard.highest() == 0);
        CHECK_NOTHROW(guard.enter(5));
        CHECK_NOTHROW(guard.enter(7));
        CHECK(code_of([&] { (void)guard.enter(6); }) == ErrorCode::conflict);
        CHECK_THAT(message_of([&] { guard.raise(6); }), Catch::StartsWith("a newer leader"));
        CHECK_NOTHROW(guard.enter(7));
    }
    TermGuard restarted(folder.file);
    CHECK(restarted.highest() == 7);
    CHECK(code_of([&] { (void)restarted.enter(6); }) == ErrorCode::conflict);
}

TEST_CASE("a damaged term stops the start instead of letting everybody in") {
    const GuardFolder folder;
    write_file_atomically(folder.file, "seven");
    CHECK(code_of([&] { TermGuard guard(folder.file); }) == ErrorCode::internal);
}

TEST_CASE("a new leader's first call waits for the last ones of the old leader") {
    const GuardFolder folder;
    TermGuard guard(folder.file);
    std::promise<std::uint64_t> raised;
    const auto listening = guard.on_raise([&](std::uint64_t term) {
        if (term == 2) raised.set_value(term);
    });
    auto old_call = guard.enter(1);
    std::promise<void> entered;
    std::atomic<bool> old_runs{true};
    bool waited = false;
    std::jthread newer([&] {
        const auto call = guard.enter(2);
        waited = !old_runs;
        entered.set_value();
    });
    CHECK(raised.get_future().get() == 2);  // the newer one is known, so the old one begins nothing any more
    CHECK(code_of([&] { (void)guard.enter(1); }) == ErrorCode::conflict);
    old_runs = false;
    old_call.reset();
    entered.get_future().get();
    CHECK(waited);
}

TEST_CASE("calls of one leader run together") {
    const GuardFolder folder;
    TermGuard guard(folder.file);
    const auto one = guard.enter(3);
    const auto two = guard.enter(3);
    CHECK(guard.highest() == 3);  // nobody waits
}

TEST_CASE("the text of a refusal tells the highest term") {
    const GuardFolder folder;
    TermGuard guard(folder.file);
    guard.raise(12);
    CHECK(term_of_refusal(message_of([&] { guard.raise(3); })) == 12);
    CHECK(term_of_refusal("instance is busy") == 0);
    CHECK(term_of_refusal("") == 0);
}
