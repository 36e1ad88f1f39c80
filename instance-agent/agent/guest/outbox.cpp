#include "instance-agent/agent/guest/outbox.h"

#include <algorithm>

namespace svc::agent {
namespace {

constexpr std::size_t max_items = 1024;  // bounds the search for an event to drop

}  // namespace

void Outbox::append(Kind kind, std::string message, std::string_view event) {
    other_bytes_ += message.size();
    queue_.push_back(Item{next_number_++, kind, std::string(event), std::move(message), {}});
}

void Outbox::put_answer(std::string message, FileDescriptor descriptor, std::uint64_t mark) {
    answer_bytes_ += message.size();
    auto place = queue_.end();
    while (place != queue_.begin() && std::prev(place)->number >= mark) --place;
    if (place == queue_.begin() && sent_ > 0) ++place;  // a message that is sent in part stays first
    // The answer takes the number of the message behind it, so that numbers stay in order.
    const std::uint64_t number = place == queue_.end() ? next_number_++ : place->number;
    queue_.insert(place, Item{number, Kind::answer, "", std::move(message), std::move(descriptor)});
}

bool Outbox::fits(std::size_t size) const {
    return other_bytes_ + size <= limit_ && queue_.size() < max_items;
}

bool Outbox::drop_event(std::string_view name) {
    auto item = queue_.begin();
    if (sent_ > 0) ++item;
    item = std::find_if(item, queue_.end(), [&](const Item& one) {
        return one.kind == Kind::event && (name.empty() || one.event == name);
    });
    if (item == queue_.end()) return false;
    other_bytes_ -= item->message.size();
    queue_.erase(item);
    return true;
}

std::size_t Outbox::put_event(std::string message, std::string_view name) {
    std::size_t dropped = 0;
    while (!fits(message.size())) {
        const bool room = message.size() <= limit_ && (drop_event(name) || drop_event(""));
        ++dropped;
        if (!room) return dropped;
    }
    append(Kind::event, std::move(message), name);
    return dropped;
}

bool Outbox::put_frame(std::string message) {
    if (!fits(message.size())) return false;
    append(Kind::frame, std::move(message), "");
    return true;
}

void Outbox::sent(std::size_t bytes) {
    Item& first = queue_.front();
    first.descriptor.reset();
    sent_ += bytes;
    if (sent_ < first.message.size()) return;
    bytes_of(first) -= first.message.size();
    queue_.pop_front();
    sent_ = 0;
}

void Outbox::clear() {
    queue_.clear();
    sent_ = answer_bytes_ = other_bytes_ = 0;
}

}  // namespace svc::agent
