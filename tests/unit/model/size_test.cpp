#include "libsvc/model/values/size.h"

#include <catch2/catch.hpp>

#include "tests/support/error_code.h"

namespace svc {
namespace {

TEST_CASE("sizes are read in powers of 1024") {
    const auto [text, bytes] =
        GENERATE(table<const char*, std::uint64_t>({{"", 0},
                                                    {"0", 0},
                                                    {"17", 17},
                                                    {"17B", 17},
                                                    {"2kB", 2048},
                                                    {"3MB", 3ULL << 20},
                                                    {"3GB", 3ULL << 30},
                                                    {"4TB", 4ULL << 40},
                                                    {"5PB", 5ULL << 50},
                                                    {"7EB", 7ULL << 60},
                                                    {"9223372036854775807", ~0ULL >> 1}}));
    CHECK(parse_size("memory", text) == bytes);
}

TEST_CASE("anything else is no size, and the field is named") {
    const std::string text =
        GENERATE("-1", "1.5GB", "GB", "3 GB", " 3GB", "3GB ", "3gb", "3KB", "3GiB", "3G", "+3GB", "0x10",
                 "8EB", "9223372036854775808", "99999999999999999999999");
    CHECK(test::code_of([&] { parse_size("memory", text); }) == ErrorCode::invalid_argument);
    CHECK(test::message_of([&] { parse_size("memory", text); }).find("argument memory is invalid: ") == 0);
}

TEST_CASE("a member tells a size as text or as a number of bytes") {
    const auto size = [](const char* body) {
        const Json value = Json::parse(body);
        return size_in(JsonFields(value, "resources"), "memory");
    };
    CHECK(size(R"({"memory": "1GB"})") == 1ULL << 30);
    CHECK(size(R"({"memory": 1073741824})") == 1ULL << 30);
    CHECK(size(R"({"memory": 4096.0})") == 4096);
    CHECK(size(R"({"memory": ""})") == 0);
    CHECK_FALSE(size(R"({"memory": null})"));
    CHECK_FALSE(size("{}"));
    for (const char* body : {R"({"memory": -1})", R"({"memory": true})", R"({"memory": ["1GB"]})",
                             R"({"memory": "1 GB"})", R"({"memory": "1.5GB"})"})
        CHECK(test::message_of([&] { size(body); }) ==
              "argument resources.memory is invalid: must be a whole number of bytes, or text like 512MB or "
              "3GB (units B, kB, MB, GB, TB, PB, EB)");
}

TEST_CASE("what an instance gets is more than nothing") {
    const Json value = Json::parse(R"({"memory": "1B", "disk": 0, "text": ""})");
    const JsonFields fields(value);
    CHECK(amount_in(fields, "memory") == 1);
    CHECK_FALSE(amount_in(fields, "absent"));
    for (const char* key : {"disk", "text"})
        CHECK(test::message_of([&] { amount_in(fields, key); }) ==
              "argument " + std::string(key) + " is invalid: must be above 0");
}

TEST_CASE("sizes are written in the unit that leaves less than 1024, rounded") {
    const auto [bytes, text] =
        GENERATE(table<std::uint64_t, const char*>({{0, "0B"},
                                                    {1023, "1023B"},
                                                    {1024, "1kB"},
                                                    {1536, "2kB"},
                                                    {1535, "1kB"},
                                                    {(1ULL << 20) - 1, "1MB"},
                                                    {3ULL << 30, "3GB"},
                                                    {21ULL << 30, "21GB"},
                                                    {(8ULL << 30) - (200ULL << 20), "8GB"},
                                                    {1ULL << 60, "1EB"},
                                                    {(1ULL << 63) - 1, "8EB"}}));
    CHECK(format_size(bytes) == text);
}

TEST_CASE("an exact size is read back as it was") {
    for (const std::uint64_t bytes :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1023}, std::uint64_t{1024},
          std::uint64_t{3584} << 20, std::uint64_t{3} << 30, (std::uint64_t{3} << 30) + 1})
        CHECK(parse_size("size", exact_size(bytes)) == bytes);
    CHECK(exact_size(std::uint64_t{3} << 30) == "3GB");
    CHECK(exact_size(std::uint64_t{3584} << 20) == "3584MB");
    CHECK(exact_size(0) == "0B");
}

}  // namespace
}  // namespace svc
