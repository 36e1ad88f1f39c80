#pragma once
// Checks that every codec of a record must pass.
#include <catch2/catch.hpp>
#include <functional>
#include <set>
#include <string>

#include "libsvc/base/json.h"
#include "tests/support/error_code.h"

namespace svc::test {

// Each member of `stored`, one after the other, is left out and given a wrong type. What is in `required`
// must not be missing; a wrong type is always refused, naming the member. `any_type` may hold anything.
inline void check_members(const Json& stored, const std::set<std::string>& required,
                          const std::set<std::string>& any_type,
                          const std::function<void(const Json&)>& read) {
    for (const auto& [key, value] : stored.as_object()) {
        if (key == "schema") continue;
        INFO("member " << key);
        Json without = stored;
        without.erase(key);
        if (required.contains(key))
            CHECK(message_of([&] { read(without); }) == key + " is required");
        else
            CHECK_NOTHROW(read(without));
        if (any_type.contains(key)) continue;
        Json wrong = stored;
        wrong.set(key, value.is_string() ? Json(1) : Json("text"));
        CHECK(code_of([&] { read(wrong); }) == ErrorCode::invalid_argument);
        CHECK(message_of([&] { read(wrong); }).find(key) != std::string::npos);
    }
}

}  // namespace svc::test
