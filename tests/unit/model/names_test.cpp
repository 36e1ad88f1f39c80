#include "libsvc/model/values/names.h"

#include <catch2/catch.hpp>
#include <string>

#include "tests/support/error_code.h"

namespace svc {
namespace {

using Check = void (*)(std::string_view, std::string_view);

void refused(Check check, const std::string& name) {
    INFO("name '" << name << "'");
    CHECK(test::code_of([&] { check("thing", name); }) == ErrorCode::invalid_argument);
    CHECK(test::message_of([&] { check("thing", name); }).find("thing") != std::string::npos);
}

TEST_CASE("image names") {
    for (const std::string& name :
         {std::string("a"), std::string("jammy:x11:amd64"), std::string("A_b-c.D:9"), std::string(128, 'x'),
          std::string("0123456789abcdefghi"), std::string("...")})
        CHECK_NOTHROW(check_image_name("name", name));
    for (const std::string& name :
         {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a/b"), std::string("ä"),
          std::string("."), std::string(".."), std::string("a\0b", 3), std::string("a\n"),
          std::string("0123456789abcdefghij")})
        refused(check_image_name, name);
    CHECK(test::message_of([] { check_image_name("name", ""); }) == "name is required");
    CHECK(test::message_of([] { check_image_name("name", std::string(129, 'x')); }) ==
          "length of name is invalid");
}

TEST_CASE("application and addon names") {
    for (const auto check : {check_application_name, check_addon_name}) {
        for (const std::string& name : {std::string("a"), std::string("A_b-c.D"), std::string(128, 'x')})
            CHECK_NOTHROW(check("name", name));
        for (const std::string& name :
             {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a:b"), std::string("."),
              std::string(".."), std::string("0123456789abcdefghij")})
            CHECK(test::code_of([&] { check("name", name); }) == ErrorCode::invalid_argument);
    }
}

TEST_CASE("node names") {
    for (const std::string& name : {std::string("a"), std::string("Node-0"), std::string(63, 'x')})
        CHECK_NOTHROW(check_node_name("name", name));
    for (const std::string& name : {std::string(), std::string(64, 'x'), std::string("-a"), std::string("a-"),
                                    std::string("a.b"), std::string("a_b")})
        refused(check_node_name, name);
}

TEST_CASE("instance names") {
    for (const std::string& name : {std::string("web"), std::string("Web-01"), std::string("svc-web"),
                                    std::string("0123456789abcdefghiw"), std::string(63, 'x')})
        CHECK_NOTHROW(check_instance_name("name", name));
    for (const std::string& name :
         {std::string(), std::string("ab"), std::string(64, 'x'), std::string("-ab"), std::string("ab-"),
          std::string("a.b"), std::string("a_b"), std::string("a b"), std::string("c08p730j1qm6t2783da0"),
          std::string("svc-c08p730j1qm6t2783da0")})
        refused(check_instance_name, name);
}

TEST_CASE("service names") {
    for (const std::string& name :
         {std::string(), std::string("ssh"), std::string("0-a-"), std::string(63, 'x')})
        CHECK_NOTHROW(check_service_name("name", name));
    for (const std::string& name :
         {std::string("-a"), std::string("Ssh"), std::string("a_b"), std::string(64, 'x')})
        refused(check_service_name, name);
}

TEST_CASE("boot packages are dotted Java names") {
    for (const char* name : {"com.example", "a.b.c", "A1_.b_2"}) CHECK_NOTHROW(check_boot_package("p", name));
    for (const char* name : {"", "com", "com.", ".com", "com..example", "com.1a", "com.a-b", "com.example\n"})
        refused(check_boot_package, name);
}

TEST_CASE("boot activities are full or relative Java names") {
    for (const char* name : {"com.example.Main", ".Main", ".M_1"})
        CHECK_NOTHROW(check_boot_activity("a", name));
    for (const char* name : {"", ".", "Main", "example.Main", ".a.Main", "..Main", "com.example.1"})
        refused(check_boot_activity, name);
}

TEST_CASE("tags") {
    for (const std::string& tag :
         {std::string("a"), std::string("gpu=yes"), std::string("ä b"), std::string(256, 'x')})
        CHECK_NOTHROW(check_tag("tags[0]", tag));
    for (const std::string& tag :
         {std::string(), std::string("a,b"), std::string("a\tb"), std::string(257, 'x')})
        refused(check_tag, tag);
}

}  // namespace
}  // namespace svc
