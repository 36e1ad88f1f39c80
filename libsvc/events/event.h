#pragma once
// An event as the bus delivers it: a rendered notification with its number.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace svc {

enum class EventType { operation, logging, lifecycle, audit };
std::string_view to_text(EventType type);
std::optional<EventType> event_type(std::string_view text);  // nothing: not known
EventType parse_event_type(std::string_view text);           // throws invalid_argument

// The rendered notification {"type","timestamp","metadata","sequence"}, shared by all subscribers.
struct Event {
    std::uint64_t sequence = 0;
    EventType type = EventType::operation;
    std::shared_ptr<const std::string> text;
};

}  // namespace svc
