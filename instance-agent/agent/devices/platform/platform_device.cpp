#include "instance-agent/agent/devices/platform/platform_device.h"

#include "instance-agent/agent/control/envelope.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::agent {
namespace {

constexpr const char* stream_active = "stream_active";

std::string read_if_there(const std::filesystem::path& file) try {
    return read_file(file);
} catch (const Error&) {
    return {};
}

BitrateRange bitrates_of(const std::string& platform, const Paths& paths) {
    return choose_bitrates(read_bitrate_limits(read_if_there(paths.data / "streamer.json")),
                           read_display_settings(platform, paths.user_data()));
}

}  // namespace

PlatformDevice::PlatformDevice(const DeviceContext& context, StreamLink& link)
    : name_(context.platform.empty() ? "null" : context.platform),
      items_(items_of_platform(name_, bitrates_of(name_, context.paths))),
      state_file_(context.state() / "platform.json"),
      link_(link) {
    state_.with([&](State& state) { state.values = restore_items(items_, state_file_.load()); });
}

std::vector<Route> PlatformDevice::routes() {
    const std::string path = "/1.0/platform";
    return {{Method::get, path, Access::everyone, Dispatch::on_pool, "platform",
             [this](Request&) { return info(); }},
            {Method::patch, path, Access::everyone, Dispatch::on_pool, "platform",
             [this](Request& request) { return change(request); }},
            {Method::delete_, path, Access::everyone, Dispatch::on_pool, "platform",
             [this](Request& request) { return reset(request); }}};
}

Json PlatformDevice::read(const State& state, const PlatformItem& item) const {
    return item.name == stream_active ? Json(state.stream_active) : value_of(item, state.values);
}

Response PlatformDevice::info() const {
    Json config = Json::object();
    state_.with([&](const State& state) {
        for (const PlatformItem& item : items_) config.set(item.name, read(state, item));
    });
    return success(Json::object({{"name", name_}, {"config", std::move(config)}}));
}

Json PlatformDevice::value(std::string_view item) const {
    return state_.with([&](const State& state) { return read(state, item); });
}

Json PlatformDevice::read(const State& state, std::string_view item) const {
    for (const PlatformItem& known : items_)
        if (known.name == item) return read(state, known);
    return {};
}

Json PlatformDevice::stream_items() const {
    return state_.with([&](const State& state) { return stream_items(state); });
}

// A platform without these items gets an empty answer: the streamer does not log and uses its own bitrates.
Json PlatformDevice::stream_items(const State& state) const {
    const auto number = [&](std::string_view item) {
        const Json value = read(state, item);
        return value.is_integer() ? value : Json(0);
    };
    const auto allowed = [&](std::string_view item) { return read(state, item) != Json(false); };
    return Json::object({{"rtc_log", read(state, "rtc_log") == Json(true)},
                         {"clipboard_to_instance", allowed("clipboard_to_instance")},
                         {"clipboard_from_instance", allowed("clipboard_from_instance")},
                         {"files_to_instance", allowed("files_to_instance")},
                         {"files_from_instance", allowed("files_from_instance")},
                         {"bitrate_min_kbps", number("stream_video_bitrate_min_kbps")},
                         {"bitrate_max_kbps", number("stream_video_bitrate_max_kbps")}});
}

void PlatformDevice::set_stream_active(bool active) {
    state_.with([&](State& state) { state.stream_active = active; });
}

// The file is written before the values change, so that a success survives a restart. The streamer is told
// under the lock, so that it learns changes in their order.
void PlatformDevice::set(State& state, ItemValues values) {
    keep(values);
    state.values = std::move(values);
    Json event = Json::object({{"event", "stream.items"}});
    const Json items = stream_items(state);
    for (const auto& [name, value] : items.as_object()) event.set(name, value);
    link_.send(event);
}

void PlatformDevice::keep(const ItemValues& values) const {
    Json stored = Json::object();
    for (const auto& [name, value] : values) stored.set(name, value);
    state_file_.save(stored);
}

Response PlatformDevice::change(const Request& request) {
    const Json body = body_of(request);
    state_.with([&](State& state) {
        ItemValues values = read_item_changes(items_, state.values, body);
        values.insert(state.values.begin(), state.values.end());
        set(state, std::move(values));
    });
    return success();
}

Response PlatformDevice::reset(const Request& request) {
    const Json body = body_of(request);
    state_.with([&](State& state) {
        ItemValues values = state.values;
        for (const std::string& name : read_item_resets(items_, values, body)) values.erase(name);
        set(state, std::move(values));
    });
    return success();
}

}  // namespace svc::agent
