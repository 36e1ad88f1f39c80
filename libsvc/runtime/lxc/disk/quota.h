#pragma once
// Disk limits by project quota (ext4, xfs), where the file system of the state directory enforces it.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace svc::lxc {

// Thread-safe: keeps no state but what it found out at construction.
class Quota {
  public:
    explicit Quota(std::filesystem::path directory);
    bool enforced() const { return enforced_; }
    const std::string& reason() const { return reason_; }  // why not, for the node record

    // A number that nothing on the file system uses, the same for the same name where possible.
    std::uint32_t choose_project(std::string_view name) const;
    // Puts empty `folders` and all that will be made in them under the project and limits it.
    void limit(std::uint32_t project, const std::vector<std::filesystem::path>& folders,
               std::uint64_t bytes) const;
    std::optional<std::uint64_t> used(std::uint32_t project) const;  // bytes; nothing where nobody counts
    void release(std::uint32_t project) const;  // after the folders are gone; does not throw

  private:
    std::filesystem::path directory_;
    bool enforced_ = false;
    std::string reason_;
};

}  // namespace svc::lxc
