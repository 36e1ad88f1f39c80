#pragma once
// Where inputs that have to be files lie: in memory where that can be, as each is synced.
#include <unistd.h>

#include <filesystem>

namespace svc::fuzz {

inline std::filesystem::path memory_folder() {
    const std::filesystem::path memory = "/dev/shm";
    return ::access(memory.c_str(), W_OK) == 0 ? memory : std::filesystem::temp_directory_path();
}

}  // namespace svc::fuzz
