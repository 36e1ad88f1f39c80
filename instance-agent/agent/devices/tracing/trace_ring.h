#pragma once
// A ring of records in memory of a fixed size: the newest ones stay.
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>

namespace svc::agent {

// Each record is one field of a protocol buffer message, so that all records one after another are a message.
// Memory that was never written is not resident. One thread at a time.
class TraceRing {
  public:
    explicit TraceRing(std::size_t capacity);

    void append(std::string_view record);  // drops the oldest records to make room; a record larger than the
                                           // ring is dropped
    std::size_t size() const noexcept { return size_; }
    std::uint64_t dropped() const noexcept { return dropped_; }
    std::array<std::string_view, 2> content() const;  // oldest first, in two parts

  private:
    unsigned char at(std::size_t offset) const { return data_[(first_ + offset) % capacity_]; }
    void drop_oldest();

    std::size_t capacity_;
    std::unique_ptr<unsigned char[]> data_;
    std::size_t first_ = 0, size_ = 0;
    std::uint64_t dropped_ = 0;
};

}  // namespace svc::agent
