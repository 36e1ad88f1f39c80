#pragma once
// A daemon's configuration file in a temporary directory, and what the daemon reads from it.
#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "server/process/configuration.h"
#include "tests/support/error_code.h"

namespace svc::test {

template <typename Options>
class OptionsFile {
  public:
    using Reader = process::Invocation<Options> (*)(int, const char* const*, const std::filesystem::path&);

    OptionsFile(const std::string& program, Reader reader)
        : file(directory.path() / (program + ".yaml")), program_(program), reader_(reader) {}
    Options read(const std::vector<std::string>& flags = {}) const {
        std::vector<const char*> arguments{program_.c_str()};
        for (const std::string& flag : flags) arguments.push_back(flag.c_str());
        return reader_(static_cast<int>(arguments.size()), arguments.data(), file).options;
    }
    void write(const std::string& text) const { write_file_atomically(file, text); }
    // The error of reading the text; "" when it is accepted.
    std::string refusal(const std::string& text) const {
        write(text);
        return message_of([&] { read(); });
    }

    const TemporaryDirectory directory{std::filesystem::temp_directory_path(), "svc-options-"};
    const std::filesystem::path file;

  private:
    std::string program_;
    Reader reader_;
};

// Each key has one row in the table of the page in docs/.
template <typename Options>
void check_documented_once(std::span<const process::Setting<Options>> settings, const char* page_name) {
    const std::string page = read_file(std::filesystem::path(SVC_TESTS_DIR) / ".." / "docs" / page_name);
    for (const auto& setting : settings) {
        const std::string row = "| `" + std::string(setting.key) + "`";
        INFO(row);
        CHECK(page.find(row) != std::string::npos);
        CHECK(page.find(row, page.find(row) + 1) == std::string::npos);
    }
}

}  // namespace svc::test
