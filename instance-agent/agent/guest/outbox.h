#pragma once
// What waits to be sent to one guest, and what is dropped when that becomes too much.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::agent {

// One thread at a time. Sizes are in bytes, with headers.
class Outbox {
  public:
    explicit Outbox(std::size_t limit) : limit_(limit) {}

    // Where an answer has its place: behind what is there now, before what comes until it is put.
    std::uint64_t mark() const { return next_number_; }
    // Always succeeds: whoever calls looks at answer_bytes().
    void put_answer(std::string message, FileDescriptor descriptor, std::uint64_t mark);
    // Makes room at the cost of the oldest events of the same name, then of any. Returns how many events were
    // dropped, the new one among them when even that did not help.
    std::size_t put_event(std::string message, std::string_view name);
    bool put_frame(std::string message);  // false: no room

    bool empty() const { return queue_.empty(); }
    std::size_t bytes() const { return other_bytes_ + answer_bytes_; }
    std::size_t answer_bytes() const { return answer_bytes_; }
    // What is to be sent next, and the descriptor (-1: none) that goes with its first byte.
    std::string_view front() const { return std::string_view(queue_.front().message).substr(sent_); }
    int front_descriptor() const { return queue_.front().descriptor.get(); }
    void sent(std::size_t bytes);  // of front(); closes the descriptor
    void clear();

  private:
    enum class Kind : std::uint8_t { answer, event, frame };
    struct Item {
        std::uint64_t number;
        Kind kind;
        std::string event;
        std::string message;
        FileDescriptor descriptor;
    };
    bool fits(std::size_t size) const;
    bool drop_event(std::string_view name);  // "": any
    void append(Kind kind, std::string message, std::string_view event);
    std::size_t& bytes_of(const Item& item) {
        return item.kind == Kind::answer ? answer_bytes_ : other_bytes_;
    }

    std::size_t limit_;
    std::deque<Item> queue_;
    std::size_t sent_ = 0;  // of the first item
    std::size_t answer_bytes_ = 0, other_bytes_ = 0;
    std::uint64_t next_number_ = 0;
};

}  // namespace svc::agent
