#pragma once
// Where the programs are that the daemon needs beside itself.
#include <filesystem>
#include <string_view>

namespace svc::server {

// `configured` when set, else the first of: the folder of the running program, `../libexec/svc` and
// the build tree's `../<build_folder>`.
// Where there is none: throws invalid_argument naming the configuration `key`, or returns "" when it may be
// missing. A configured one is never missing.
enum class Missing { refused, allowed };
std::filesystem::path find_program(std::string_view name, const std::filesystem::path& configured,
                                   std::string_view build_folder, std::string_view key,
                                   Missing missing = Missing::refused);

}  // namespace svc::server
