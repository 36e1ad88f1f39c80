#pragma once
// How long many things took, in little memory: counts in buckets that are at most 1.6 % wide.
#include <array>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace svc::bench {

class Latencies {
  public:
    void add(std::chrono::nanoseconds duration) {
        const auto value = static_cast<std::uint64_t>(duration.count() < 0 ? 0 : duration.count());
        ++counts_[index_of(value)];
        ++count_;
        if (value > max_) max_ = value;
    }
    std::uint64_t count() const { return count_; }
    double max_milliseconds() const { return static_cast<double>(max_) / 1e6; }
    // The duration that the share of all was below; 0 when there is none.
    double milliseconds(double share) const {
        const auto wanted = static_cast<std::uint64_t>(share * static_cast<double>(count_));
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if ((seen += counts_[i]) > wanted) return static_cast<double>(value_of(i)) / 1e6;
        return max_milliseconds();
    }

  private:
    static constexpr unsigned fine_bits = 6;
    static constexpr std::size_t fine = std::size_t{1} << fine_bits;
    static std::size_t index_of(std::uint64_t value) {
        if (value < fine) return value;
        const auto exponent = static_cast<unsigned>(std::bit_width(value)) - fine_bits - 1;
        return (exponent << fine_bits) + (value >> exponent);
    }
    static std::uint64_t value_of(std::size_t index) {
        if (index < 2 * fine) return index;
        const std::size_t exponent = (index >> fine_bits) - 1;
        return ((index & (fine - 1)) + fine) << exponent;
    }

    std::array<std::uint64_t, (64 - fine_bits + 1) * fine> counts_{};
    std::uint64_t count_ = 0;
    std::uint64_t max_ = 0;
};

}  // namespace svc::bench
