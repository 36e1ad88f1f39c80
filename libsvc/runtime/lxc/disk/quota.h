#pragma once
// Disk limits by project quota (ext4, xfs), where the file system of the state directory enforces it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace svc::lxc {

// Thread-safe: the state is set in the constructor and does not change.
class Quota {
  public:
    // `bytes_per_file`: of a limit, which allows as many files; 0: any number.
    Quota(std::filesystem::path directory, std::uint64_t bytes_per_file);
    bool enforced() const { return enforced_; }
    const std::string& reason() const {
        return reason_;
    }  // why limits are not enforced, for the node's record

    // A project number that no file uses; the same for the same name where possible.
    std::uint32_t choose_project(std::string_view name) const;
    // Puts the empty `folders`, and all that will be made in them, into the project and sets its limit.
    void limit(std::uint32_t project, const std::vector<std::filesystem::path>& folders,
               std::uint64_t bytes) const;
    std::uint32_t project_of(const std::filesystem::path& folder) const;  // 0: none, or not enforced
    std::optional<std::uint64_t> used(
        std::uint32_t project) const;           // bytes; nothing: the file system does not count
    void release(std::uint32_t project) const;  // after the folders are gone; does not throw

  private:
    std::filesystem::path directory_;
    std::uint64_t bytes_per_file_;
    bool enforced_ = false;
    std::string reason_;
};

}  // namespace svc::lxc
