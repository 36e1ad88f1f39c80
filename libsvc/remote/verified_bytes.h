#pragma once
// Internal to this folder: compares received bytes with the size and fingerprint that were announced.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/base/digest.h"

namespace svc {

// Both throw invalid_argument: add() when there are more bytes than `size`, finish() when there were less, or
// the fingerprint differs.
class VerifiedBytes {
  public:
    explicit VerifiedBytes(std::string fingerprint, std::optional<std::uint64_t> size = {})
        : fingerprint_(std::move(fingerprint)), size_(size) {}
    void add(std::string_view piece);
    void finish();

  private:
    std::string fingerprint_;
    std::optional<std::uint64_t> size_;
    std::uint64_t count_ = 0;
    Sha256 hash_;
};

}  // namespace svc
