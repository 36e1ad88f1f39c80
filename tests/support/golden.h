#pragma once
// Golden files: what a thing should look like, kept beside its test. SVC_UPDATE_GOLDEN=1 writes them anew
// (read the difference before committing it). Include after <catch2/catch.hpp>.
#include <cstdlib>
#include <filesystem>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

namespace svc::test {

// `path` is relative to tests/: "unit/model/golden/image.json".
inline std::filesystem::path golden_path(const std::string& path) {
    return std::filesystem::path(SVC_TESTS_DIR) / path;
}

inline bool updating_golden() {
    const char* value = std::getenv("SVC_UPDATE_GOLDEN");
    return value != nullptr && std::string(value) == "1";
}

inline std::string read_golden(const std::string& path) {
    return read_file(golden_path(path));
}

inline void check_golden(const std::string& path, const std::string& actual) {
    if (updating_golden()) {
        std::filesystem::create_directories(golden_path(path).parent_path());
        write_file_atomically(golden_path(path), actual, 0644);
    }
    INFO("golden file " << path);
    std::string expected;
    REQUIRE_NOTHROW(expected = read_golden(path));
    CHECK(actual == expected);
}

inline void check_golden(const std::string& path, const Json& actual) {
    check_golden(path, actual.dump_pretty() + "\n");
}

}  // namespace svc::test
