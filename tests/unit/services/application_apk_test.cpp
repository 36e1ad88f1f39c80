// What app.apk says, as a parser in the place of `aapt` tells it.
#include "tests/support/apk_parser.h"
#include "tests/support/skip.h"
#include "tests/unit/services/application_fixture.h"

using namespace svc;
using namespace svc::test;

namespace {

// The content of app.apk is what the parser says of it.
struct ApkWorld : ApplicationFixture {
    ApkWorld() { fake_apk_parser(directory.path(), "while read -r line; do echo \"$line\"; done\n"); }

    std::shared_ptr<const Application> with_apk(const std::string& keys, const std::string& said) {
        return created("name: candy\n" + keys, {{"app.apk", said}, {"extra-data/level", "x"}});
    }
    std::string refusal(const std::string& keys, const std::string& said) {
        return message_of([&] {
            create("name: candy\n" + keys, {{"app.apk", said}, {"extra-data/level", "x"}});
        });
    }
};

const std::string candy =
    "package: name='com.example.candy' versionCode='1'\n"
    "uses-permission: name='android.permission.CAMERA'\n"
    "launchable-activity: name='com.example.candy.Main'  label='' icon=''\n";

}  // namespace

TEST_CASE("an application has the package and the activity of its APK") {
    skip_unless_root();
    ApkWorld world;
    const auto app = world.with_apk("", candy);
    const ApplicationVersion version = world.version(0);
    CHECK(version.manifest.boot_package == "com.example.candy");
    CHECK(version.manifest.boot_activity == "com.example.candy.Main");
    CHECK(version.manifest.required_permissions.empty());  // nobody said that they are granted
    CHECK(version.notes.empty());
    CHECK(app->abi == "x86_64");
}

TEST_CASE("what the manifest says stays") {
    skip_unless_root();
    ApkWorld world;
    world.with_apk(
        "boot-package: com.example.candy\nboot-activity: .Other\n"
        "required-permissions: [android.permission.CAMERA]\n",
        candy);
    CHECK(world.version(0).manifest.boot_activity == ".Other");
    CHECK(world.version(0).manifest.required_permissions.size() == 1);
}

TEST_CASE("a version by PATCH keeps the package of the APK, a new package has that of its own") {
    skip_unless_root();
    ApkWorld world;
    world.with_apk("", candy);
    ApplicationPatch patch;
    patch.boot_activity = ".Patched";
    REQUIRE(world.bootstrapped(world.service().changes().patch("candy", patch, "test")) == "");
    CHECK(world.version(1).manifest.boot_package == "com.example.candy");
    CHECK(world.version(1).manifest.boot_activity == ".Patched");
    REQUIRE(world.bootstrapped(
                world.update("candy", "name: candy\n", {{"app.apk", "package: name='a.b'\n"}})) == "");
    CHECK(world.version(2).manifest.boot_package == "a.b");
    CHECK(world.version(2).manifest.boot_activity.empty());
}

TEST_CASE("an APK and a manifest that cannot work together are refused") {
    skip_unless_root();
    ApkWorld world;
    CHECK(world.refusal("boot-package: com.example.cake\n", candy) ==
          "argument boot-package is invalid: 'com.example.cake' is not the package of app.apk, "
          "'com.example.candy'");
    CHECK(world.refusal("abi: x86_64\n", candy + "native-code: 'x86' 'arm64-v8a'\n") ==
          "argument abi is invalid: app.apk has native code for 'x86, arm64-v8a', not for x86_64");
    CHECK_THAT(world.refusal("extra-data: {level: {target: /data/data/com.example.cake}}\n", candy),
               Catch::Contains("extra-data.level.target") &&
                   Catch::Contains("is not below the package's directory"));
    CHECK(world.service().list().empty());
}

TEST_CASE("the ABI is one that the APK has native code for and a machine runs") {
    skip_unless_root();
    ApkWorld world;
    CHECK(world.with_apk("", candy + "native-code: 'arm64-v8a' 'x86'\n")->abi == "x86");
    const auto abi_of = [&](const std::string& code) {
        REQUIRE(world.bootstrapped(world.update("candy", "name: candy\n",
                                                {{"app.apk", candy + "native-code: " + code + "\n"}})) == "");
        return world.app()->abi;
    };
    CHECK(abi_of("'x86' 'x86_64'") == "x86_64");
    world.set("application.default_abi", "x86");
    CHECK(abi_of("'x86' 'x86_64'") == "x86");
    CHECK(abi_of("'x86_64'") == "x86_64");
    CHECK(abi_of("'mips' 'arm64-v8a'") == "x86_64");  // the image may translate it
}

TEST_CASE("names of an APK that the service does not take are left out") {
    skip_unless_root();
    ApkWorld world;
    world.with_apk("", "package: name='single'\nlaunchable-activity: name='com.example.Main$Inner'\n");
    CHECK(world.version(0).manifest.boot_package.empty());
    CHECK(world.version(0).manifest.boot_activity.empty());
}

TEST_CASE("an APK that cannot be read is noted on the version") {
    skip_unless_root();
    ApkWorld world;
    world.with_apk("", "no apk");
    CHECK(world.version(0).notes ==
          std::vector<std::string>{"app.apk was not read: app.apk names no package"});
    REQUIRE(world.bootstrapped(world.update("candy", "name: candy\n", {{"app.apk", ""}})) == "");
    CHECK(world.version(1).notes == std::vector<std::string>{"app.apk was not read: it is empty"});
}

TEST_CASE("an APK is not read where there is no parser, which is noted") {
    ApplicationFixture world;
    world.created("name: candy\n", {{"app.apk", candy}});
    CHECK(world.version(0).manifest.boot_package.empty());
    CHECK(world.version(0).notes ==
          std::vector<std::string>{"app.apk was not read: 'aapt' is not installed"});
}
