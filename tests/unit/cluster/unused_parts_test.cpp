#include "libsvc/cluster/unused_parts.h"

#include <catch2/catch.hpp>

using namespace svc;
using namespace std::chrono_literals;

TEST_CASE("a part is due when it has been unused for the whole patience") {
    UnusedParts parts(10s);
    const UnusedParts::Time begin{};
    CHECK(parts.due({"a", "b"}, begin).empty());
    CHECK(parts.due({"a"}, begin + 9s).empty());
    CHECK(parts.due({"a", "b"}, begin + 10s) == std::vector<std::string>{"a"});
    CHECK(parts.due({"b"}, begin + 19s).empty());  // it was used meanwhile
    CHECK(parts.due({"a", "b"}, begin + 20s) == std::vector<std::string>{"b"});
}
