#include "libsvc/services/instances/repair/unpublished_events.h"

#include <map>
#include <optional>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr std::string_view path_of_instances = "/1.0/containers/";
constexpr std::size_t page_bytes = 1U << 20U;

// What the window tells: the last action of each instance, and since when it tells everything.
struct Told {
    std::map<std::string, std::string, std::less<>> last;
    std::optional<Time> since;
};

void take_event(const std::string& text, Told& told) {
    const Json event = Json::parse(text);
    const JsonFields fields(event);
    if (fields.require_string("type") != to_text(EventType::lifecycle)) return;  // a gap
    if (!told.since) told.since = from_rfc3339(fields.require_string("timestamp"));
    const auto metadata = fields.object("metadata");
    const std::string source = metadata ? metadata->string("source").value_or("") : "";
    if (!source.starts_with(path_of_instances)) return;
    told.last[source.substr(path_of_instances.size())] = metadata->require_string("action");
}

Told read_window(EventBus& events) {
    Told told;
    const auto replay = events.replay(
        {EventType::lifecycle}, [](const Event&) { return true; }, 0);
    for (EventPage page = replay->next(page_bytes); !page.live; page = replay->next(page_bytes))
        for (const auto& text : page.texts) take_event(*text, told);
    return told;
}

// Of one that is new nothing else can have been told.
bool is_new(const Instance& instance, const Engine& engine) try {
    if (instance.status == InstanceStatus::created) return true;
    return instance.status == InstanceStatus::prepared &&
           !is_final(engine.get(instance.launch_operation)->status);
} catch (const Error&) {
    return false;  // that operation is long over
}

// A launch has taken it over from its pool, and is not done with it.
bool is_being_claimed(const Instance& instance, const Engine& engine) try {
    if (instance.status != InstanceStatus::started) return false;
    const auto launch = engine.get(instance.launch_operation);
    return launch->kind == "instance.claim" && !is_final(launch->status);
} catch (const Error&) {
    return false;  // that operation is long over
}

// The action that clients should have been told last, where they were told `last`.
std::string_view action_to_tell(std::string_view last, const Instance& instance, const Engine& engine) {
    if (is_being_claimed(instance, engine)) return "container-claimed";
    if (is_paused(instance)) return "container-paused";
    const bool was_paused = last == "container-paused" || last == "container-resumed";
    if (was_paused && instance.status == InstanceStatus::running) return "container-resumed";
    return action_of(instance.status);
}

void tell(const InstanceChanges& changes, std::string_view action, const std::string& id) {
    if (action.empty()) return;
    log::info("event of an earlier process", {{"container", id}, {"action", std::string(action)}});
    changes.publish(action, id, "");
}

}  // namespace

std::string_view action_of(InstanceStatus status) {
    switch (status) {
        case InstanceStatus::created:
            return "container-created";
        case InstanceStatus::prepared:
            return "container-scheduled";
        case InstanceStatus::started:
            return "container-started";
        case InstanceStatus::running:
            return "container-running";
        case InstanceStatus::stopped:
            return "container-stopped";
        case InstanceStatus::error:
            return "container-failed";
        default:
            return "";
    }
}

void publish_unpublished_events(const Instances& instances, EventBus& events, const Engine& engine,
                                const InstanceChanges& changes) try {
    const Told told = read_window(events);
    for (const auto& [id, action] : told.last)
        if (action != "container-removed" && !instances.find(id) && !instances.find_unreadable(id))
            tell(changes, "container-removed", id);
    for (const auto& instance : instances.list()) {
        const auto last = told.last.find(instance->id.str());
        const bool is_known = last != told.last.end();
        const std::string_view now = action_to_tell(is_known ? last->second : "", *instance, engine);
        const bool begins = !is_known && is_new(*instance, engine);
        if (!is_known && !begins && (!told.since || instance->created_at < *told.since)) continue;
        if (begins && now != action_of(InstanceStatus::created))
            tell(changes, action_of(InstanceStatus::created), instance->id.str());
        if (!is_known || last->second != now) tell(changes, now, instance->id.str());
    }
} catch (const Error& e) {
    log::warning("events of an earlier process cannot be completed", {{"error", e.what()}});
}

}  // namespace svc
