#include "libsvc/remote/simplestreams.h"

#include <catch2/catch.hpp>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/json.h"
#include "tests/support/error_code.h"

using namespace svc;
using svc::test::code_of;

namespace {

Json item(const std::string& ftype, const std::string& path = "images/x.tar.xz") {
    return Json::object({{"ftype", ftype}, {"path", path}, {"sha256", sha256_hex(path)}, {"size", 10}});
}

Json version(const JsonMembers& items = {{"svc.tar.xz", item("svc.tar.xz")}}) {
    return Json::object({{"items", Json::object(items)}});
}

Json product(const JsonMembers& versions = {{"1", version()}}) {
    return Json::object(
        {{"aliases", "jammy:amd64,default"}, {"arch", "amd64"}, {"versions", Json::object(versions)}});
}

std::string file(const Json& one, const std::string& name = "svc:jammy:amd64") {
    return Json::object({{"format", "products:1.0"}, {"products", Json::object({{name, one}})}}).dump();
}

bool is_refused(const Json& one) {
    return code_of([&] { read_products(file(one)); }) == ErrorCode::invalid_argument;
}

}  // namespace

TEST_CASE("an image is named by the first alias, else by the product") {
    auto images = read_products(file(product()));
    REQUIRE(images.size() == 1);
    CHECK(images[0].name == "jammy:amd64");
    CHECK(images[0].aliases == std::vector<std::string>{"jammy:amd64", "default"});
    CHECK(images[0].architecture == "x86_64");
    CHECK(images[0].version == "1");
    CHECK(images[0].path == "images/x.tar.xz");
    CHECK(images[0].fingerprint == sha256_hex("images/x.tar.xz"));
    CHECK(images[0].size == 10);
    Json nameless = product();
    nameless.erase("aliases");
    CHECK(read_products(file(nameless)).at(0).name == "svc:jammy:amd64");
}

TEST_CASE("arm64 is aarch64; other architectures are left out") {
    Json one = product();
    one.set("arch", "arm64");
    CHECK(read_products(file(one)).at(0).architecture == "aarch64");
    one.set("arch", "riscv64");
    CHECK(read_products(file(one)).empty());
}

TEST_CASE("one tarball with metadata and root file system is taken, halves of one are not") {
    const auto taken = [](const JsonMembers& items) {
        const auto images = read_products(file(product({{"1", version(items)}})));
        return images.empty() ? std::string() : images[0].path;
    };
    CHECK(taken({{"a", item("lxd.tar.xz", "lxd")},
                 {"b", item("root.tar.xz", "root")},
                 {"c", item("rootfs.tar.xz", "root")},
                 {"d", item("squashfs", "squash")},
                 {"e", item("disk-kvm.img", "disk")},
                 {"f", item("incus.tar.xz", "incus")},
                 {"g", item("svc.tar.zst", "zst")}}) == "");
    CHECK(taken({{"a", item("lxd.tar.xz", "lxd")}, {"b", item("lxd_combined.tar.gz", "combined")}}) ==
          "combined");
    CHECK(taken({{"a", item("lxd_combined.tar.gz", "combined")}, {"b", item("svc.tar.xz", "svc")}}) == "svc");
    CHECK(taken({{"a", item("image.tar.bz2", "image")}}) == "image");
    CHECK(taken({{"a", item("svc_combined.tar.gz", "combined")}, {"b", item("image.tar.gz", "image")}}) ==
          "combined");
}

TEST_CASE("the newest version comes last, whatever the order in the file") {
    const auto images = read_products(
        file(product({{"20240101_10", version()}, {"20231231_1", version()}, {"20240101_9", version()}})));
    REQUIRE(images.size() == 3);
    CHECK(images[0].version == "20231231_1");
    CHECK(images[1].version == "20240101_9");
    CHECK(images[2].version == "20240101_10");
}

TEST_CASE("is_older is an order") {
    const std::vector<std::string> ordered{"", "1", "1.2", "1.2.1", "1.10", "2", "10", "10a", "10b", "a"};
    for (std::size_t i = 0; i < ordered.size(); ++i)
        for (std::size_t j = 0; j < ordered.size(); ++j) {
            INFO(ordered[i] << " " << ordered[j]);
            CHECK(is_older(ordered[i], ordered[j]) == (i < j));
        }
    CHECK(is_older("01", "1") != is_older("1", "01"));
}

TEST_CASE("the release is that of the version, else of the product") {
    Json special = version();
    special.set("release_version", "1.23.0");
    Json one = product({{"1", version()}, {"2", special}});
    one.set("release_version", "1.22.0");
    const auto images = read_products(file(one));
    CHECK(images.at(0).release == "1.22.0");
    CHECK(images.at(1).release == "1.23.0");
}

TEST_CASE("paths that lead out of the server are refused") {
    for (const char* path :
         {"/etc/passwd", "../x", "a/../../x", "a//b", "", "a/./b", "a\\b", "a\nb", "https://evil/x"}) {
        INFO(path);
        CHECK(is_refused(product({{"1", version({{"a", item("svc.tar.xz", path)}})}})));
    }
    CHECK(is_refused(product({{"1", version({{"a", item("svc.tar.xz", std::string(2000, 'a'))}})}})));
    const std::string index =
        R"({"index": {"images": {"datatype": "image-downloads", "path": "../../products.json"}}})";
    CHECK(code_of([&] { read_index(index); }) == ErrorCode::invalid_argument);
}

TEST_CASE("items that cannot be checked are refused") {
    const auto with = [](const char* key, const Json& value) {
        Json one = item("svc.tar.xz");
        one.set(key, value);
        return product({{"1", version({{"a", one}})}});
    };
    CHECK(is_refused(with("sha256", "abc")));
    CHECK(is_refused(with("sha256", nullptr)));
    CHECK(is_refused(with("size", 0)));
    CHECK(is_refused(with("size", -1)));
    CHECK(is_refused(with("size", "10")));
    CHECK(is_refused(with("ftype", 1)));
    CHECK(is_refused(product({{"", version()}})));
    CHECK(is_refused(product({{"1\n2", version()}})));
    CHECK(is_refused(Json("text")));
}

TEST_CASE("indexes that make no sense are refused") {
    for (const char* text : {"", "{}", "[]", R"({"index": []})", R"({"index": {"a": 1}})",
                             R"({"index": {"a": {"datatype": "image-downloads"}}})"}) {
        INFO(text);
        CHECK(code_of([&] { read_index(text); }) == ErrorCode::invalid_argument);
    }
    for (const char* text :
         {"", "{}", R"({"format": "products:2.0", "products": {}})", R"({"format": "products:1.0"})"})
        CHECK(code_of([&] { read_products(text); }) == ErrorCode::invalid_argument);
}

TEST_CASE("only streams of image downloads are read") {
    const std::string index =
        R"({"index": {"a": {"datatype": "image-ids", "path": "a"}, "b": {"datatype": "image-downloads", "path": "b"},)"
        R"("c": {"datatype": "image-downloads", "format": "products:2.0", "path": "c"}}})";
    CHECK(read_index(index) == std::vector<std::string>{"b"});
}
