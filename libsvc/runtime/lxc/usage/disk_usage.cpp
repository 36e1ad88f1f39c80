#include "libsvc/runtime/lxc/usage/disk_usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <memory>
#include <string_view>
#include <utility>

#include "libsvc/base/file.h"

namespace svc::lxc {

namespace {

constexpr unsigned max_depth = 64;  // descriptors held at once
constexpr std::uint64_t block_bytes = 512;

struct CloseDirectory {
    void operator()(DIR* directory) const { ::closedir(directory); }
};

// Opens each directory relative to its parent, never by a path, as the guest could replace a part of a path.
class Walk {
  public:
    Walk(dev_t device, std::uint64_t entries) : device_(device), entries_left_(entries) {}

    bool add(FileDescriptor folder, unsigned depth) {
        const std::unique_ptr<DIR, CloseDirectory> directory(::fdopendir(folder.get()));
        if (!directory || depth > max_depth) return false;
        folder.release();
        while (const dirent* entry = ::readdir(directory.get())) {
            const std::string_view name(entry->d_name);
            if (name == "." || name == "..") continue;
            if (entries_left_-- == 0 || !add_entry(::dirfd(directory.get()), entry->d_name, depth))
                return false;
        }
        return true;
    }
    std::uint64_t bytes() const { return bytes_; }

  private:
    bool add_entry(int parent, const char* name, unsigned depth) {
        struct stat info {};
        if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return true;  // gone meanwhile
        if (info.st_dev != device_) return true;
        // A file with several names is found once for each name.
        const auto blocks = static_cast<std::uint64_t>(info.st_blocks) * block_bytes;
        bytes_ += S_ISDIR(info.st_mode) || info.st_nlink == 0 ? blocks : blocks / info.st_nlink;
        if (!S_ISDIR(info.st_mode)) return true;
        FileDescriptor below(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        return !below || add(std::move(below), depth + 1);
    }

    dev_t device_;
    std::uint64_t entries_left_;
    std::uint64_t bytes_ = 0;
};

}  // namespace

std::optional<std::uint64_t> measure_tree(const std::filesystem::path& folder, std::uint64_t max_entries) {
    FileDescriptor top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    struct stat info {};
    if (!top || ::fstat(top.get(), &info) != 0) return std::nullopt;
    Walk walk(info.st_dev, max_entries);
    if (!walk.add(std::move(top), 0)) return std::nullopt;
    return walk.bytes();
}

void DiskUsage::begin_round() {
    state_.with([&](State& state) {
        std::erase_if(state.results, [&](const auto& item) { return item.second.round < state.round; });
        ++state.round;
        state.from = std::exchange(state.spent, {});
        state.round_began = clock_.steady_now();
    });
}

bool DiskUsage::is_due(State& state, const std::string& id, const Result& result) const {
    const SteadyTime now = clock_.steady_now();
    const bool old = result.measured == SteadyTime{} || now - result.measured >= limits_.keep;
    if (!old || id < state.from) return false;
    if (now - state.round_began < limits_.budget) return true;
    if (state.spent.empty()) state.spent = id;
    return false;
}

std::optional<std::uint64_t> DiskUsage::bytes(const std::string& id, const std::filesystem::path& folder) {
    const auto [due, known] = state_.with([&](State& state) {
        Result& result = state.results[id];
        result.round = state.round;
        return std::pair(is_due(state, id, result), result.bytes);
    });
    if (!due) return known;
    const auto measured = measure_tree(folder, limits_.entries);
    state_.with([&](State& state) {
        Result& result = state.results[id];
        result.bytes = measured;
        result.measured = clock_.steady_now();
    });
    return measured;
}

}  // namespace svc::lxc
