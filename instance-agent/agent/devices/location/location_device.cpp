#include "instance-agent/agent/devices/location/location_device.h"

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/location/nmea.h"
#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/processes/guest_start.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

using namespace std::chrono_literals;

constexpr Duration feed_interval = 1s;
constexpr std::int64_t default_interval = 1000;  // milliseconds
constexpr std::int64_t least_location_interval = 20;
constexpr double most_interval = 3600 * 1000;
constexpr Repeater::Key pty_key{0, 1};

Repeater::Key key_of(const GuestSession& session) {
    return {session.id(), 0};
}

Json event_of(const Fix& fix, bool as_nmea) {
    Json event = Json::object({{"event", "location"}});
    if (as_nmea) {
        JsonArray sentences;
        for (std::string& sentence : nmea_sentences(fix)) sentences.emplace_back(std::move(sentence));
        event.set("sentences", std::move(sentences));
        return event;
    }
    const Json members = to_json(fix);
    for (const auto& [name, value] : members.as_object()) event.set(name, value);
    return event;
}

bool read_nmea(const Json& request) {
    const std::string format = read_text(request, "format").value_or("json");
    if (format != "json" && format != "nmea") throw_invalid_field("format");
    return format == "nmea";
}

bool was_enabled(const StateFile& file) {
    return file.load() == Json::object({{"enabled", true}});
}

}  // namespace

LocationDevice::LocationDevice(const DeviceContext& context, Tracer& tracer, StreamLink& link)
    : state_file_(context.state() / "location.json", guest_start_key(context.paths)),
      source_(context.clock, context.paths.data / "static_gps_position", was_enabled(state_file_)),
      tracer_(tracer),
      repeater_(context.clock, "location") {
    link.when_gone([this] {
        if (streamer_switch_.take_back()) set_switch(false);
    });
    open_pty(context);
}

void LocationDevice::open_pty(const DeviceContext& context) try {
    const auto in_dev = context.in_instance ? context.paths.in_guest("/dev/gnss-nmea") : "";
    pty_.emplace(context.sockets / "gnss", in_dev);
    repeater_.start(pty_key, feed_interval, [this] { feed_pty(); });
} catch (const Error& e) {
    log::warning("no device for gpsd", {{"error", e.what()}});
}

void LocationDevice::refresh() {
    if (pty_) pty_->keep_links();
}

std::vector<Route> LocationDevice::routes() {
    const std::string path = "/1.0/location";
    return {{Method::get, path, Access::everyone, Dispatch::on_io_thread, "location",
             [this](Request&) {
                 return success(Json::object({{"enabled", source_.enabled()}}));
             }},
            {Method::post, path, Access::everyone, Dispatch::on_pool, "location",
             [this](Request& request) { return enable(request); }},
            {Method::patch, path, Access::everyone, Dispatch::on_pool, "location",
             [this](Request& request) { return update(request); }}};
}

Response LocationDevice::enable(const Request& request) {
    const Json body = body_of(request);
    const bool on = read_enable(body);
    streamer_switch_.switched(body, on, set_switch(on));
    return success();
}

bool LocationDevice::set_switch(bool on) {
    const bool changed = stored_.with([&](bool&) {
        if (source_.enabled() == on) return false;
        state_file_.save(Json::object({{"enabled", on}}));
        source_.enable(on);
        return true;
    });
    if (changed) tell_enabled(on);
    return changed;
}

Response LocationDevice::update(const Request& request) {
    const Json body = body_of(request);
    if (!source_.enabled()) throw Error(ErrorCode::invalid_argument, "Location updates are not enabled");
    source_.update(read_fix(body));
    tracer_.instant("location", "update");
    subscribers_.with([&](const Subscribers& all) {
        for (const auto& [id, session] : all) repeater_.hasten(key_of(*session));
    });
    return success();
}

GuestFeature LocationDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "location";
    feature.ops["location.subscribe"] = [this](const auto& session, const JsonFields& request) {
        return subscribe(session, request.value());
    };
    feature.ops["location.unsubscribe"] = [this](const auto& session, const JsonFields&) {
        unsubscribe(*session);
        return GuestAnswer{};
    };
    feature.ops["location.get"] = [this](const auto&, const JsonFields&) {
        const auto fix = source_.last_known();
        if (!fix) throw Error(ErrorCode::not_found, "no fix");
        return GuestAnswer{to_json(*fix)};
    };
    feature.closed = [this](const GuestSessionPtr& session) { unsubscribe(*session); };
    return feature;
}

GuestAnswer LocationDevice::subscribe(const GuestSessionPtr& session, const Json& request) {
    const auto asked = read_integer(request, "interval_ms", {0, most_interval}).value_or(default_interval);
    const std::chrono::milliseconds interval(std::max(asked, least_location_interval));
    const bool as_nmea = read_nmea(request);
    subscribers_.with([&](Subscribers& all) { all[session->id()] = session; });
    repeater_.start(key_of(*session), interval, [this, session, as_nmea] { tell(session, as_nmea); });
    return {};
}

void LocationDevice::unsubscribe(const GuestSession& session) {
    repeater_.stop(key_of(session));
    subscribers_.with([&](Subscribers& all) { all.erase(session.id()); });
}

void LocationDevice::tell(const GuestSessionPtr& session, bool as_nmea) {
    if (const auto fix = source_.current()) session->send_event(event_of(*fix, as_nmea));
}

// Sessions that subscribe later get the new fix with their first event.
void LocationDevice::tell_enabled(bool on) {
    Subscribers told = subscribers_.with([](const Subscribers& all) { return all; });
    repeater_.once([told = std::move(told), on] {
        const Json event = Json::object({{"event", "location.enabled"}, {"enabled", on}});
        for (const auto& [id, session] : told) session->send_event(event);
    });
}

void LocationDevice::feed_pty() {
    if (!pty_->has_reader()) return pty_->idle();
    if (const auto fix = source_.current())
        pty_->feed(nmea_lines(*fix));
    else
        pty_->idle();
}

}  // namespace svc::agent
