// Packages that attack the service, as a client sends them: refused with 400, and nothing is left.
#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "tests/api/header.h"
#include "tests/support/application_package.h"
#include "tests/support/image_package.h"
#include "tests/support/test_daemon.h"
#include "tests/unit/formats/archive_builder.h"

namespace svc::test {

namespace {

struct HostileSetup {
    TestDaemon daemon;
    ApiCaller& api = daemon.api();

    ApiReply add_image(const std::string& package) {
        return api.upload(Method::post, "/1.0/images", R"({"name":"x"})", package);
    }
    ApiReply add_addon(const std::string& package) {
        return api.upload(Method::post, "/1.0/addons", R"({"name":"x"})", package);
    }
    ApiReply add_application(const std::string& package) {
        return api.upload(Method::post, "/1.0/applications", "", package);
    }
    void check_nothing_is_left() {
        for (const char* noun : {"images", "addons", "applications"})
            CHECK(api.get(std::string("/1.0/") + noun).metadata() == Json::array());
        CHECK(std::filesystem::is_empty(daemon.options().state_dir / "blobs" / "incoming"));
    }
};

std::string compressed(const std::string& package, int filter) {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path());
    write_file_atomically(directory.path() / "package", package);
    compress_file(directory.path() / "package", filter);
    return read_file(directory.path() / "package");
}

std::string bzip2_of(const std::vector<ArchiveItem>& items) {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path());
    build_archive(directory.path() / "package", items, ARCHIVE_FILTER_BZIP2);
    return read_file(directory.path() / "package");
}

std::string with_manifest(const std::string& text) {
    return bzip2_of({{.path = "manifest.yaml", .content = text},
                     {.path = "hooks/install", .content = "#!/bin/sh\n", .mode = 0755}});
}

}  // namespace

TEST_CASE_METHOD(HostileSetup, "packages that are compressed twice are refused") {
    for (const int filter :
         {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD}) {
        CHECK(add_image(compressed(image_package(), filter)).status == 400);
        CHECK(add_addon(compressed(addon_package(), filter)).status == 400);
        CHECK(add_application(compressed(application_package("candy"), filter)).status == 400);
    }
    check_nothing_is_left();
}

TEST_CASE_METHOD(HostileSetup, "packages with something behind their end are refused") {
    CHECK(add_image(image_package() + "x").status == 400);
    CHECK(add_addon(addon_package() + "x").status == 400);
    CHECK(add_application(application_package("a") + application_package("b")).status == 400);
    check_nothing_is_left();
}

TEST_CASE_METHOD(HostileSetup, "manifests that are no files, or bombs, are refused") {
    CHECK(add_addon(bzip2_of({{.path = "manifest.yaml", .type = AE_IFDIR}})).status == 400);
    CHECK(add_addon(bzip2_of({{.path = "a"}, {.path = "manifest.yaml", .type = AE_IFLNK, .link = "a"}}))
              .status == 400);
    CHECK(add_addon(bzip2_of({{.path = "a"}, {.path = "manifest.yaml", .hard_link = "a"}})).status == 400);
    CHECK(add_application(with_manifest("a: &a [x,x]\nb: &b [*a,*a]\nname: *b\n"))
              .error()
              .find("aliases are not allowed") != std::string::npos);
    CHECK(add_application(with_manifest("name: x\na: " + std::string(500'000, '['))).status == 400);
    CHECK(add_application(with_manifest("name: x\n#" + std::string(1U << 20, 'x'))).status == 400);
    CHECK(add_application(with_manifest("name: x\nname: y\n")).status == 400);
    CHECK(add_application(with_manifest("name: \"x\\0y\"\n")).status == 400);
    CHECK(add_application(with_manifest("name: ../x\n")).status == 400);
    check_nothing_is_left();
}

TEST_CASE_METHOD(HostileSetup, "manifests that name places outside are refused") {
    for (const char* keys :
         {"extra-data: {../x: {target: /sdcard/Android/obb/a.b}}", "extra-data: {x: {target: /etc/passwd}}",
          "extra-data: {x: {target: /data/data/a.b/../../../etc}}",
          "extra-data: {x: {target: \"/data/data/a.b/\\n\"}}", "bootstrap: {keep: [../x]}",
          "bootstrap: {keep: [/etc]}", "bootstrap: {keep: [a/../../b]}", "addons: [../x]", "image: ../../x",
          "boot-activity: ../x"}) {
        INFO(keys);
        CHECK(add_application(with_manifest(std::string("name: candy\n") + keys + "\n")).status == 400);
    }
    check_nothing_is_left();
}

TEST_CASE_METHOD(HostileSetup, "names and links of a package that lead outside are refused") {
    const ArchiveItem manifest{.path = "manifest.yaml", .content = "name: x\n"};
    const std::vector<ArchiveItem> attacks = {{.path = "hooks/../../x"},
                                              {.path = "/etc/cron.d/x"},
                                              {.path = "hooks/install", .type = AE_IFLNK, .link = "/bin/sh"},
                                              {.path = "hooks", .type = AE_IFLNK, .link = ".."},
                                              {.path = "hooks/install", .hard_link = "../../x"},
                                              {.path = "hooks/install", .type = AE_IFCHR}};
    for (const ArchiveItem& attack : attacks) {
        INFO(attack.path);
        CHECK(add_addon(bzip2_of({manifest, attack})).status == 400);
    }
    check_nothing_is_left();
}

}  // namespace svc::test
