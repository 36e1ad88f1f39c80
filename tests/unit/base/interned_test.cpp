#include "libsvc/base/interned.h"

#include <catch2/catch.hpp>
#include <string>
#include <thread>

using namespace svc;

namespace {

using Text = Interned<std::string>;
using Texts = Interned<std::vector<std::string>>;

const std::string long_text(100, 'x');

}  // namespace

TEST_CASE("equal values are the same object, others are not") {
    const Text a = long_text;
    const Text b = std::string(100, 'x');
    const Text c = "other";
    CHECK(&*a == &*b);
    CHECK(a == b);
    CHECK_FALSE(a == c);
    CHECK(c == "other");
    CHECK(*c == std::string("other"));
    const Texts one{"a", "b"};
    const Texts same = std::vector<std::string>{"a", "b"};
    CHECK(&*one == &*same);
    CHECK_FALSE(one == Texts{"b", "a"});
    CHECK(one[1] == "b");
    CHECK(sizeof(Texts) == sizeof(void*));
}

TEST_CASE("an empty value is the default, however it was made") {
    CHECK(Text() == Text(std::string()));
    CHECK(Text("").empty());
    Texts texts{"a"};
    texts = {};
    CHECK(texts == Texts());
    CHECK(texts.size() == 0);
}

TEST_CASE("a change leaves other holders as they are") {
    Texts mine{"a"};
    const Texts other = mine;
    mine.change([](std::vector<std::string>& texts) { texts.push_back("b"); });
    CHECK(mine == Texts{"a", "b"});
    CHECK(other == Texts{"a"});
}

TEST_CASE("copies, moves and assignment to itself keep the value") {
    Text a = long_text;
    Text b = a;
    const Text c = std::move(a);
    b = *&b;
    CHECK(b == c);
    CHECK(*c == long_text);
    CHECK(a.empty());  // NOLINT(bugprone-use-after-move): it is empty then
}

TEST_CASE("threads may make and drop the same value at once") {
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 20'000; ++i) {
                const Text a = long_text;
                const Text b = a;
                if (*b != long_text) ++wrong;
            }
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(wrong == 0);
}
