#pragma once
// Where programs of the guest are.
#include <filesystem>
#include <string>
#include <string_view>

#include "instance-agent/agent/files/paths.h"

namespace svc::agent {

// PATH of everything that the agent runs. The last two folders are Android's.
constexpr std::string_view program_path =
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/system/bin:/system/xbin";

// The place of a program in the folders of the guest's PATH. Empty: not found.
std::filesystem::path find_program(const Paths& paths, const std::string& name);

// The guest's shell; Android has it elsewhere than others.
std::string shell_of(const Paths& paths);

}  // namespace svc::agent
