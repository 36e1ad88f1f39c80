#pragma once
// Ids that count: the same in every run, valid in form.
#include <atomic>
#include <cstdint>
#include <string>

#include "libsvc/base/id.h"

namespace svc::test {

// Thread-safe. "00000000000000000001", "00000000-0000-4000-8000-000000000001", each kind with a counter of
// its own.
class SequenceIds final : public IdSource {
  public:
    std::string object_id() override { return padded(++objects_, 20); }
    std::string uuid() override { return "00000000-0000-4000-8000-" + padded(++uuids_, 12); }
    std::string secret() override { return padded(++secrets_, 64); }

  private:
    static std::string padded(std::uint64_t number, std::size_t width) {
        const std::string digits = std::to_string(number);
        return std::string(width - digits.size(), '0') + digits;
    }
    std::atomic<std::uint64_t> objects_{0}, uuids_{0}, secrets_{0};
};

}  // namespace svc::test
