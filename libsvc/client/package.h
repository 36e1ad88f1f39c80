#pragma once
// A package file that is uploaded to the service.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace svc {

enum class PackagePhase { hashing, sending };
// Called often, on the calling thread; may throw to give up.
using PackageProgress = std::function<void(PackagePhase phase, std::uint64_t done, std::uint64_t total)>;

// Reads the file once at construction, for its fingerprint, and once more while it is sent; constant memory.
// Throws not_found and invalid_argument (not a regular file). One thread.
class Package {
  public:
    explicit Package(std::filesystem::path path, PackageProgress progress = {});
    const std::string& fingerprint() const { return fingerprint_; }  // SHA-256, lower-case hex
    std::uint64_t size() const { return size_; }
    // Opens the file; each call of the result gives the next piece, "" at the end.
    std::function<std::string(std::size_t at_most)> source() const;

  private:
    std::filesystem::path path_;
    PackageProgress progress_;
    std::uint64_t size_ = 0;
    std::string fingerprint_;
};

}  // namespace svc
