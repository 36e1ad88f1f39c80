#include "libsvc/base/unfinished_files.h"

#include <catch2/catch.hpp>

#include "libsvc/base/file.h"

namespace svc::test {

TEST_CASE("what an atomic write left when it was killed is removed, and nothing else") {
    const TemporaryDirectory folder(std::filesystem::temp_directory_path());
    const auto file = [&](const char* name) { return folder.path() / name; };
    for (const char* name :
         {".numbers.a1B2c3", "numbers", ".numbers.a1B2c", ".hidden", ".a.b.c_d-ef", ".tmp-aaaaaa"})
        write_file_atomically(file(name), "1");
    make_directories(file(".folder.a1B2c3"));
    remove_unfinished_files(folder.path());
    CHECK_FALSE(std::filesystem::exists(file(".numbers.a1B2c3")));
    for (const char* name :
         {"numbers", ".numbers.a1B2c", ".hidden", ".a.b.c_d-ef", ".tmp-aaaaaa", ".folder.a1B2c3"})
        CHECK(std::filesystem::exists(file(name)));
    remove_unfinished_files(file("absent"));
}

}  // namespace svc::test
