#include "libsvc/base/fifo.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

using namespace svc;

TEST_CASE("a fifo gives back what it got in order however full it was") {
    Fifo<int> fifo;
    int pushed = 0, popped = 0;
    for (int round = 1; round <= 300; ++round) {
        for (int i = 0; i < round % 17 + 3; ++i) fifo.push(pushed++);
        for (int i = 0; i < round % 13 + 2 && !fifo.empty(); ++i) REQUIRE(fifo.pop() == popped++);
        REQUIRE(fifo.size() == static_cast<std::size_t>(pushed - popped));
    }
    while (!fifo.empty()) REQUIRE(fifo.pop() == popped++);
    CHECK(popped == pushed);
}

TEST_CASE("a fifo lets go of what was taken or cleared") {
    const auto item = std::make_shared<std::string>("x");
    Fifo<std::shared_ptr<std::string>> fifo;
    for (int i = 0; i < 200; ++i) fifo.push(item);
    for (int i = 0; i < 150; ++i) fifo.pop();
    CHECK(item.use_count() == 51);
    fifo.clear();
    CHECK(item.use_count() == 1);
    CHECK(fifo.empty());
    fifo.push(item);
    CHECK(fifo.front() == item);
}
