#pragma once
// A file system of a few megabytes that only the calling test sees: for what happens on a full disk.
#include <sched.h>
#include <sys/mount.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <string>
#include <thread>

#include "libsvc/base/file.h"
#include "tests/support/skip.h"

namespace svc::test {

// Runs `body(directory)` on a thread with a mount namespace of its own, which ends, with the mount, when that
// thread and those it started do. What `body` throws comes out here. Skips the test case where this process
// may not mount.
// `files`: how many it can hold, 0 for plenty.
template <class Body>
void on_small_disk(std::uint64_t bytes, Body body, std::uint64_t files = 0) {
    const TemporaryDirectory directory(std::filesystem::temp_directory_path());
    const std::string options =
        "mode=0700,size=" + std::to_string(bytes) + (files == 0 ? "" : ",nr_inodes=" + std::to_string(files));
    bool mounted = false;
    std::exception_ptr error;
    std::thread([&] {
        mounted =
            ::unshare(CLONE_FS | CLONE_NEWNS) == 0 &&
            ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
            ::mount("tmpfs", directory.path().c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0;
        if (!mounted) return;
        try {
            body(directory.path());
        } catch (...) {
            error = std::current_exception();
        }
    }).join();
    if (error) std::rethrow_exception(error);
    if (!mounted) skip("this process may not mount");
}

}  // namespace svc::test
