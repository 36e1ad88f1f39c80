#include <catch2/catch.hpp>

#include "libsvc/runtime/lxc/host/launcher_choice.h"

using namespace svc;
using namespace svc::lxc;

namespace {

const LaunchConditions fit{false, "6.1.0-13-amd64", true};

LaunchConditions without_program() {
    LaunchConditions conditions = fit;
    conditions.has_program = false;
    return conditions;
}

}  // namespace

TEST_CASE("the launcher of our own is chosen where the machine allows it") {
    CHECK(choose_launcher(std::nullopt, fit) == LauncherKind::own);
    CHECK(choose_launcher(LauncherKind::own, fit) == LauncherKind::own);
    CHECK(choose_launcher(LauncherKind::liblxc, fit) == LauncherKind::liblxc);
}

TEST_CASE("liblxc starts containers where the launcher of our own cannot") {
    CHECK(choose_launcher(std::nullopt, {true, "6.1.0", true}) == LauncherKind::liblxc);
    CHECK(choose_launcher(std::nullopt, {false, "5.11.22-generic", true}) == LauncherKind::liblxc);
    CHECK(choose_launcher(std::nullopt, without_program()) == LauncherKind::liblxc);
    CHECK(choose_launcher(std::nullopt, {false, "6.1.0", true, true}) == LauncherKind::liblxc);
}

TEST_CASE("the kernel's release is compared as numbers") {
    CHECK(why_not_own({false, "5.12", true}).empty());
    CHECK(why_not_own({false, "10.0.0-rc1", true}).empty());
    CHECK(why_not_own({false, "5.9.16", true}) == "it needs Linux 5.12, this is 5.9.16");
    CHECK_FALSE(why_not_own({false, "unknown", true}).empty());
}

TEST_CASE("the launcher of our own is refused where guests would be confined less") {
    CHECK_THROWS_WITH(choose_launcher(LauncherKind::own, {true, "6.1.0", true}),
                      Catch::Contains("the launcher `own` cannot be used") && Catch::Contains("AppArmor"));
    CHECK_THROWS_WITH(choose_launcher(LauncherKind::own, {false, "4.19.0", true}),
                      Catch::Contains("Linux 5.12"));
}
