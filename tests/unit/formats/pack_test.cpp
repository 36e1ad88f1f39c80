#include <sys/stat.h>
#include <catch2/catch.hpp>

#include "libsvc/base/file.h"
#include "libsvc/formats/pack.h"
#include "libsvc/formats/package.h"
#include "tests/support/error_code.h"

using namespace svc;
using namespace svc::test;

TEST_CASE("a packed directory lists as the package it will be") {
    const TemporaryDirectory scratch(std::filesystem::temp_directory_path(), "svc-pack-");
    const auto tree = scratch.path() / "tree";
    make_directories(tree / "hooks", 0755);
    write_file_atomically(tree / "manifest.yaml", "name: candy\n");
    write_file_atomically(tree / "hooks" / "pre-start", "#!/bin/sh\n");
    REQUIRE(::chmod((tree / "hooks" / "pre-start").c_str(), 0755) == 0);
    std::filesystem::create_symlink("manifest.yaml", tree / "link");

    pack_directory(tree, scratch.path() / "package.tar.bz2");

    const PackageListing listing = list_package(scratch.path() / "package.tar.bz2");
    CHECK(listing.format == PackageFormat::bzip2_tar);
    CHECK(listing.manifest == "name: candy\n");
    REQUIRE(listing.find("hooks/pre-start") != nullptr);
    CHECK(listing.find("hooks/pre-start")->mode == 0755);
    REQUIRE(listing.find("link") != nullptr);
    CHECK(listing.find("link")->kind == PackageEntryKind::symbolic_link);
}

TEST_CASE("what is no directory, or holds a pipe, is not packed") {
    const TemporaryDirectory scratch(std::filesystem::temp_directory_path(), "svc-pack-");
    const auto target = scratch.path() / "package.tar.bz2";
    CHECK(code_of([&] { pack_directory(scratch.path() / "absent", target); }) == ErrorCode::not_found);
    make_directories(scratch.path() / "tree", 0755);
    REQUIRE(::mkfifo((scratch.path() / "tree" / "pipe").c_str(), 0600) == 0);
    CHECK(code_of([&] { pack_directory(scratch.path() / "tree", target); }) == ErrorCode::invalid_argument);
}
