#pragma once
// Where the programs are that the daemon needs beside itself.
#include <filesystem>
#include <string_view>

namespace svc::server {

// `configured` when set, else the first of: the folder of the running program, `../libexec/svc` and
// the build tree's `../<build_folder>`.
// Throws invalid_argument naming the configuration `key` when there is none.
std::filesystem::path find_program(std::string_view name, const std::filesystem::path& configured,
                                   std::string_view build_folder, std::string_view key);

}  // namespace svc::server
