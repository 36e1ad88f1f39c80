#include "libsvc/store/store.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

namespace svc {
namespace {

using test::code_of;

TEST_CASE("a batch refuses keys that are empty or have a NUL") {
    const std::string key = GENERATE(std::string(), std::string("a\0b", 3));
    Batch batch;
    CHECK(code_of([&] { batch.put(key, ""); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { batch.remove(key); }) == ErrorCode::invalid_argument);
    CHECK(code_of([&] { batch.expect(key, 0); }) == ErrorCode::invalid_argument);
    CHECK(batch.empty());
}

TEST_CASE("a batch refuses a value over 1 MiB") {
    Batch batch;
    batch.put("a", std::string(Batch::max_value_bytes, 'x'));
    CHECK(test::message_of([&] { batch.put("b", std::string(Batch::max_value_bytes + 1, 'x')); }) ==
          "value of store key 'b' has 1048577 bytes, more than 1 MiB");
    CHECK(batch.changes().size() == 1);
}

TEST_CASE("appending keeps the order of changes") {
    Batch first;
    first.put("a", "1").expect("a", 1);
    first.append(Batch().remove("a").expect("b", 0));
    REQUIRE(first.changes().size() == 2);
    CHECK(first.changes()[0].value == "1");
    CHECK_FALSE(first.changes()[1].value.has_value());
    REQUIRE(first.expectations().size() == 2);
    CHECK(first.expectations()[1].key == "b");
}

}  // namespace
}  // namespace svc
