#include "instance-agent/agent/devices/tracing/tracing_device.h"

#include "instance-agent/agent/control/envelope.h"
#include "instance-agent/agent/devices/request_fields.h"
#include "instance-agent/agent/devices/tracing/trace_file.h"
#include "instance-agent/agent/processes/boot_time.h"
#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

constexpr std::size_t max_name = 256;

TracePhase read_phase(const Json& request) {
    const std::string phase = read_text(request, "phase").value_or("instant");
    if (phase == "begin") return TracePhase::begin;
    if (phase == "end") return TracePhase::end;
    if (phase == "counter") return TracePhase::counter;
    if (phase != "instant") throw_invalid_field("phase");
    return TracePhase::instant;
}

// An event of a guest with the texts that it refers to.
struct GuestEvent {
    explicit GuestEvent(const Json& request) : phase(read_phase(request)) {
        name = phase == TracePhase::end ? read_text(request, "name").value_or("")
                                        : require_text(request, "name");
        category = read_text(request, "category").value_or("guest");
        if (name.size() > max_name || (name.empty() && phase != TracePhase::end)) throw_invalid_field("name");
        if (category.size() > max_name) throw_invalid_field("category");
        if (phase == TracePhase::counter) {
            require_field(request, "value");
            value = *read_integer(request, "value");
        }
        time = read_integer(request, "timestamp", {0, 9e18}).value_or(boot_time());
    }
    TraceEvent view() const {
        const bool end = phase == TracePhase::end;
        return {phase, end ? std::string_view() : category, name, 0, time, value};
    }

    TracePhase phase;
    std::string name, category;
    std::int64_t value = 0, time = 0;
};

}  // namespace

TracingDevice::TracingDevice(const DeviceContext& context, Tracer& tracer)
    : directory_(context.paths.data / "traces"), tracer_(tracer) {}

std::vector<Route> TracingDevice::routes() {
    const std::string path = "/1.0/tracing";
    return {{Method::get, path, Access::everyone, Dispatch::on_io_thread, "tracing",
             [this](Request&) {
                 return success(Json::object({{"active", tracer_.active()}}));
             }},
            {Method::post, path, Access::everyone, Dispatch::on_pool, "tracing",
             [this](Request& request) { return enable(request); }}};
}

Response TracingDevice::enable(const Request& request) {
    if (!read_enable(body_of(request))) return finish();
    if (!tracer_.start()) throw Error(ErrorCode::invalid_argument, "Tracing is already active");
    return success();
}

Response TracingDevice::finish() {
    std::filesystem::path file;
    const bool was_active = tracer_.stop(
        [&](const std::vector<std::string_view>& pieces) { file = write_trace_file(directory_, pieces); });
    if (!was_active) throw Error(ErrorCode::invalid_argument, "Tracing is not active");
    return success(Json::object({{"path", file.string()}}));
}

GuestFeature TracingDevice::guest_feature() {
    GuestFeature feature;
    feature.name = "tracing";
    feature.ops["trace.event"] = [this](const GuestSessionPtr& session, const JsonFields& request) {
        const GuestEvent event(request.value());
        tracer_.guest_event(
            session->id(),
            [&] {
                return "guest " + std::to_string(session->id()) + " (uid " + std::to_string(session->uid()) +
                       ")";
            },
            event.view());
        return GuestAnswer{Json::object({{"active", tracer_.active()}})};
    };
    return feature;
}

}  // namespace svc::agent
