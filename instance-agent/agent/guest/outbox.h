#pragma once
// The queue of messages for one guest, and the rules for dropping when it is full.
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"

namespace svc::agent {

// One thread at a time. Sizes are in bytes and include headers.
class Outbox {
  public:
    explicit Outbox(std::size_t limit) : limit_(limit) {}

    // A place in the queue for an answer: behind the messages that wait now, before those that are queued
    // later.
    std::uint64_t mark() const { return next_number_; }
    // Always succeeds: the caller checks answer_bytes().
    void put_answer(std::string message, FileDescriptor descriptor, std::uint64_t mark);
    // Makes room by dropping the oldest events of the same name, then the oldest of any name. Returns how
    // many events were dropped, including the new one when it still does not fit.
    std::size_t put_event(std::string message, std::string_view name);
    bool put_frame(std::string message);  // false: no room

    bool empty() const { return queue_.empty(); }
    std::size_t bytes() const { return other_bytes_ + answer_bytes_; }
    std::size_t answer_bytes() const { return answer_bytes_; }
    // The bytes to send next, and the descriptor (-1: none) that goes with the first of them.
    std::string_view front() const { return std::string_view(queue_.front().message).substr(sent_); }
    int front_descriptor() const { return queue_.front().descriptor.get(); }
    void sent(std::size_t bytes);  // bytes of front() were sent; closes the descriptor
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
    bool drop_event(std::string_view name);  // "": of any name
    void append(Kind kind, std::string message, std::string_view event);
    std::size_t& bytes_of(const Item& item) {
        return item.kind == Kind::answer ? answer_bytes_ : other_bytes_;
    }

    std::size_t limit_;
    std::deque<Item> queue_;
    std::size_t sent_ = 0;  // bytes of the first item that were sent
    std::size_t answer_bytes_ = 0, other_bytes_ = 0;
    std::uint64_t next_number_ = 0;
};

}  // namespace svc::agent
