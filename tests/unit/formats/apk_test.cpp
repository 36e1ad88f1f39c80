#include "libsvc/formats/apk.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/processes/process.h"
#include "tests/support/apk_parser.h"
#include "tests/support/skip.h"

using namespace svc;
using Strings = std::vector<std::string>;

namespace {

constexpr const char* real_parser = "/usr/bin/aapt";
constexpr const char* framework = "/usr/share/android-framework-res/framework-res.apk";

struct ApkPlace {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-apk-"};
    std::filesystem::path apk = folder.path() / "app.apk";

    ApkFacts read(const std::filesystem::path& parser) const {
        const FileDescriptor file = open_file(apk, O_RDONLY);
        return ApkReader(parser).read(file.get());
    }
    std::string refusal(const std::filesystem::path& parser) const {
        try {
            read(parser);
        } catch (const Error& e) {
            return e.what();
        }
        return "read";
    }
    std::string refusal_by(const std::string& script) const {
        write_file_atomically(apk, "an apk", 0444);
        return refusal(test::fake_apk_parser(folder.path(), script));
    }
    void run(const std::vector<std::string>& command) const {
        const CommandResult result = run_command(command, std::chrono::minutes(1));
        INFO(result.errors);
        REQUIRE(result.status.code == 0);
    }
    // By the tool that makes APKs.
    void make_apk() const {
        write_file_atomically(folder.path() / "AndroidManifest.xml", R"(<?xml version="1.0" encoding="utf-8"?>
<manifest xmlns:android="http://schemas.android.com/apk/res/android" package="com.example.candy">
<uses-sdk android:minSdkVersion="21" android:targetSdkVersion="29"/>
<uses-permission android:name="android.permission.CAMERA"/>
<uses-permission-sdk-23 android:name="android.permission.RECORD_AUDIO"/>
<application><activity android:name=".Settings"/><activity android:name=".Main"><intent-filter>
<action android:name="android.intent.action.MAIN"/><category android:name="android.intent.category.LAUNCHER"/>
</intent-filter></activity></application></manifest>)");
        for (const char* abi : {"x86_64", "arm64-v8a"}) {
            make_directories(folder.path() / "raw" / "lib" / abi);
            write_file_atomically(folder.path() / "raw" / "lib" / abi / "libcandy.so", "code");
        }
        run({real_parser, "package", "-M", folder.path() / "AndroidManifest.xml", "-I", framework, "-F", apk,
             folder.path() / "raw"});
        std::filesystem::permissions(apk, std::filesystem::perms(0444));
    }
};

void skip_without_parser() {
    test::skip_unless_root();
    if (::access(real_parser, X_OK) != 0 || ::access(framework, R_OK) != 0)
        test::skip("needs aapt and android-framework-res");
}

}  // namespace

TEST_CASE("what a parser says of an APK is read") {
    const ApkFacts facts = parse_badging(
        "package: name='com.example.candy' versionCode='1' versionName='it's'\n"
        "uses-permission: name='android.permission.CAMERA'\n"
        "uses-permission: name='android.permission.CAMERA'\n"
        "application-label:'package: name='com.evil''\n"
        "launchable-activity: name='com.example.candy.Main'  label='' icon=''\n"
        "launchable-activity: name='com.example.candy.Other'  label='' icon=''\n"
        "native-code: 'x86_64'\nalt-native-code: 'x86'\n");
    CHECK(facts.package == "com.example.candy");
    CHECK(facts.activity == "com.example.candy.Main");
    CHECK(facts.permissions == Strings{"android.permission.CAMERA"});
    CHECK(facts.abis == Strings{"x86_64", "x86"});
}

TEST_CASE("an APK without a package is refused, whatever else is said of it") {
    for (const char* text : {"", "\n", "package:", "package: name=", "package: name='", "package: name=''",
                             "package: versionCode='1' name='a.b'", "native-code: 'x86'\n", "'''''"})
        CHECK_THROWS_AS(parse_badging(text), Error);
}

TEST_CASE("lists of an APK have an end") {
    std::string text = "package: name='a.b'\nnative-code:";
    for (int i = 0; i < 100; ++i) text += " 'abi" + std::to_string(i) + "'";
    for (int i = 0; i < 5000; ++i) text += "\nuses-permission: name='p" + std::to_string(i) + "'";
    const ApkFacts facts = parse_badging(text);
    CHECK(facts.abis.size() == 32);
    CHECK(facts.permissions.size() == 4000);
}

TEST_CASE("a real APK is read by the real parser, confined") {
    skip_without_parser();
    const ApkPlace place;
    place.make_apk();
    const ApkFacts facts = place.read(real_parser);
    CHECK(facts.package == "com.example.candy");
    CHECK(facts.activity == "com.example.candy.Main");
    CHECK(facts.permissions == Strings{"android.permission.CAMERA", "android.permission.RECORD_AUDIO"});
    CHECK(facts.abis == Strings{"arm64-v8a", "x86_64"});
}

TEST_CASE("what is no APK is refused with what the parser says") {
    skip_without_parser();
    const ApkPlace place;
    write_file_atomically(place.apk, "no APK", 0444);
    CHECK_THAT(place.refusal(real_parser), Catch::StartsWith("'aapt' failed: '"));
}

TEST_CASE("an APK that unpacks to more than there is memory for is refused") {
    skip_without_parser();
    const ApkPlace place;
    const auto manifest = place.folder.path() / "AndroidManifest.xml";
    write_file_atomically(manifest, "");
    std::filesystem::resize_file(manifest, std::uintmax_t{2} << 30);
    place.run(
        {"/usr/bin/python3", "-c",
         "import sys, zipfile; zipfile.ZipFile(sys.argv[1], 'w', zipfile.ZIP_DEFLATED).write(sys.argv[2], "
         "'AndroidManifest.xml')",
         place.apk, manifest});
    std::filesystem::permissions(place.apk, std::filesystem::perms(0444));
    CHECK(std::filesystem::file_size(place.apk) < 10'000'000);
    CHECK_THAT(place.refusal(real_parser), Catch::StartsWith("'aapt' failed: "));
}

TEST_CASE("a parser gets the APK as its input, and its arguments") {
    test::skip_unless_root();
    const ApkPlace place;
    write_file_atomically(place.apk, "com.example.input\n", 0444);
    const auto parser = test::fake_apk_parser(
        place.folder.path(), "read -r name; echo \"package: name='$name'\"; echo \"native-code: '$*'\"");
    const ApkFacts facts = place.read(parser);
    CHECK(facts.package == "com.example.input");
    CHECK(facts.abis == Strings{"dump badging /dev/stdin"});
}

TEST_CASE("a parser that fails, starts processes, says too much or is not there is told") {
    test::skip_unless_root();
    const ApkPlace place;
    CHECK(place.refusal_by("echo 'no zip' >&2; echo more >&2; exit 1") == "'aapt' failed: 'no zip'");
    CHECK(place.refusal_by("exit 3") == "'aapt' failed: exit code 3");
    CHECK_THAT(place.refusal_by("(exit 0) & (exit 0) &"), Catch::EndsWith("ork'"));  // cannot fork
    CHECK(place.refusal_by("x=0123456789abcdef; x=$x$x$x$x; x=$x$x$x$x; x=$x$x$x$x; x=$x$x$x$x; i=0; "
                           "while [ $i -lt 300 ]; do echo $x; i=$((i+1)); done") == "'aapt' says too much");
    CHECK(place.refusal_by("echo nothing") == "app.apk names no package");
    CHECK(place.refusal("/nowhere/aapt") == "cannot run 'aapt': no such file or directory");
}

TEST_CASE("a parser that does not end is ended, silent or not") {
    test::skip_unless_root();
    const ApkPlace place;
    write_file_atomically(place.apk, "an apk", 0444);
    for (const char* script : {"while :; do :; done", "while :; do echo more; echo more >&2; done"}) {
        const auto parser = test::fake_apk_parser(place.folder.path(), script);
        const FileDescriptor file = open_file(place.apk, O_RDONLY);
        const ApkReader reader(parser, std::chrono::milliseconds(200));
        CHECK_THROWS_WITH(reader.read(file.get()), "command 'aapt' did not end within 200 ms");
    }
}
