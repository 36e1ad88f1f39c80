// Packages: whatever the bytes, nothing is written outside the target and nothing crashes.
#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/formats/archive.h"
#include "tests/fuzz/memory_folder.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::archive_target {

namespace {

// The folder holds the package and the target alone; a third entry escaped from the archive.
void check_nothing_escaped(const std::filesystem::path& folder) {
    for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().filename() != "package" && entry.path().filename() != "target") std::abort();
}

void unpack(const std::filesystem::path& folder) {
    svc::UnpackOptions options;
    options.subtree = "rootfs";
    options.limits = {1000, 1 << 20};
    bool all = false;
    svc::read_archive_member(folder / "package", "metadata.yaml", 4096, 1 << 20, &all);
    svc::unpack_archive(folder / "package", folder / "target", options);
}

}  // namespace

FUZZ_TARGET(archive)(const std::uint8_t* data, std::size_t size) {
    const svc::TemporaryDirectory folder(fuzz::memory_folder(), "svc-fuzz-");
    std::filesystem::create_directory(folder.path() / "target");
    svc::write_file_atomically(folder.path() / "package", {reinterpret_cast<const char*>(data), size});
    try {
        unpack(folder.path());
    } catch (const svc::Error&) {
    }
    check_nothing_escaped(folder.path());
    return 0;
}

}  // namespace svc::fuzz::archive_target
