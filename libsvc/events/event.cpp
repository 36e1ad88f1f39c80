#include "libsvc/events/event.h"

#include <array>

#include "libsvc/base/enum_table.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::array<EnumName<EventType>, 4> type_names{{{EventType::operation, "operation"},
                                                         {EventType::logging, "logging"},
                                                         {EventType::lifecycle, "lifecycle"},
                                                         {EventType::audit, "audit"}}};

}  // namespace

std::string_view to_text(EventType type) {
    return enum_text<EventType>(type_names, type);
}

std::optional<EventType> event_type(std::string_view text) {
    return enum_value<EventType>(type_names, text);
}

EventType parse_event_type(std::string_view text) {
    if (const auto type = event_type(text)) return *type;
    throw Error(ErrorCode::invalid_argument, "event type " + quoted(text) + " is not known");
}

}  // namespace svc
