#include "libsvc/services/common/package_contents.h"

#include <catch2/catch.hpp>

#include "libsvc/model/packages/manifest.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

namespace {

PackageListing listing(std::vector<PackageEntry> entries) {
    PackageListing result;
    result.entries = std::move(entries);
    return result;
}

PackageListing with_manifest(const std::string& text) {
    PackageListing result;
    result.has_manifest = true;
    result.manifest = text;
    return result;
}

}  // namespace

TEST_CASE("what looks like a number in a manifest stays the text it is, where text is wanted") {
    const auto manifest = ApplicationManifest::parse(read_manifest_document(with_manifest(
        "name: 2048\nversion: 1.10\ntags: [2024, true]\nboot-package: com.foo.candy\n"
        "extra-data:\n  obb: {target: /data/data/com.foo.candy, owner: 1000:1000, permissions: 0660}\n"
        "services:\n- {name: web, port: 8080, protocols: [tcp], expose: true}\n"
        "resources: {cpus: 2, memory: 3GB, disk-size: 3221225472, gpu-slots: 0}\n")));
    CHECK(manifest.name == "2048");
    CHECK(manifest.version == "1.10");
    CHECK(manifest.tags == std::vector<std::string>{"2024", "true"});
    CHECK(manifest.extra_data.at("obb") == ExtraData{"/data/data/com.foo.candy", "1000:1000", "0660"});
    CHECK(manifest.services.at(0).port == 8080);
    CHECK(manifest.services.at(0).expose);
    CHECK(manifest.resources.disk == std::uint64_t{3} << 30);
}

TEST_CASE("a manifest that is missing, empty or broken") {
    CHECK(message_of([] { read_manifest_document({}); }) == "manifest.yaml not found");
    CHECK_THAT(message_of([] { read_manifest_document(with_manifest("name: [")); }),
               Catch::StartsWith("manifest is malformed: malformed YAML at line"));
    CHECK_THAT(message_of([] { ApplicationManifest::parse(read_manifest_document(with_manifest(""))); }),
               Catch::StartsWith("manifest is malformed"));
    CHECK_THAT(message_of([] { read_manifest_document(with_manifest("name: a\nname: b\n")); }),
               Catch::StartsWith("manifest is malformed"));
}

TEST_CASE("the hooks of a package are its executable files of known names") {
    using enum PackageEntryKind;
    CHECK(read_hooks(listing({{"hooks", directory, 0755},
                              {"hooks/post-stop", file, 0700},
                              {"hooks/lib.sh", file, 0644},
                              {"hooks/pre-start", hard_link, 0755},
                              {"hooks/lib/install", file, 0755},
                              {"install", file, 0755}})) ==
          std::vector<std::string>{"post-stop", "pre-start"});
    for (const PackageEntry& entry :
         {PackageEntry{"hooks/install", file, 0644}, PackageEntry{"hooks/install", directory, 0755},
          PackageEntry{"hooks/install", symbolic_link, 0777}})
        CHECK(message_of([&] { read_hooks(listing({entry})); }) == "hooks/install not executable");
}
