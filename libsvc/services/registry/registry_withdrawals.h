#pragma once
// Which applications were deleted from the registry on purpose, so that a publisher does not send them again
// by itself.
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace svc {

// Thread-safe. One small file, written atomically; a damaged one counts as empty.
class RegistryWithdrawals {
  public:
    explicit RegistryWithdrawals(std::filesystem::path file) : file_(std::move(file)) {}
    // Versions up to this one are not sent without a request; later ones are.
    void withdraw(std::string_view name, int newest_version);
    void forget(std::string_view name);
    bool covers(std::string_view name, int version) const;

  private:
    using Versions = std::map<std::string, int, std::less<>>;
    Versions load() const;
    void store(const Versions& versions) const;

    const std::filesystem::path file_;
    mutable std::mutex mutex_;  // held while the file is read or written
};

}  // namespace svc
