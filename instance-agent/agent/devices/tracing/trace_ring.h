#pragma once
// The newest of many records, in memory of a fixed size.
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace svc::agent {

// Records are fields of a protocol buffer message, each with its own length: laid end to end they are a
// message again. Memory that was never written to costs nothing. One thread at a time.
class TraceRing {
  public:
    explicit TraceRing(std::size_t capacity);

    void append(
        std::string_view record);  // drops the oldest to make room; one that is too large is not taken
    std::size_t size() const noexcept { return size_; }
    std::uint64_t dropped() const noexcept { return dropped_; }
    std::array<std::string_view, 2> content() const;  // oldest first; the first part goes on in the second

  private:
    unsigned char at(std::size_t offset) const { return data_[(first_ + offset) % capacity_]; }
    void drop_oldest();

    std::size_t capacity_;
    std::unique_ptr<unsigned char[]> data_;
    std::size_t first_ = 0, size_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace svc::agent
