#include "libsvc/services/captures/capture_service.h"

#include <sys/eventfd.h>

#include <cerrno>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr const char* agent_inside = "/var/lib/svc-agent/bin/svc-agent";

void check_can_be_seen(const Instance& instance, CaptureRequest::Kind kind) {
    const bool up = instance.status == InstanceStatus::started || instance.status == InstanceStatus::running;
    if (up && !is_paused(instance)) return;
    throw Error(ErrorCode::invalid_argument, std::string(to_text(kind)) + " of container " +
                                                 instance.id.str() + " not allowed: it is " +
                                                 (up ? "paused" : std::string(to_text(instance.status))));
}

ExecSpec connect_to_streamer() {
    ExecSpec spec;
    spec.command = {agent_inside, "connect", "unix:" + std::string(capture_socket)};
    return spec;
}

std::shared_ptr<const FileDescriptor> make_event() {
    auto event = std::make_shared<FileDescriptor>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!*event) throw system_error("captures", errno);
    return event;
}

}  // namespace

CaptureService::CaptureService(Instances& instances, InstanceUses& uses, Runtime& runtime)
    : instances_(instances), uses_(uses), runtime_(runtime), stopped_(make_event()) {}

std::unique_ptr<CaptureStream> CaptureService::begin(std::string_view id, const CaptureRequest& request) {
    const auto instance = instances_.get(id);
    check_can_be_seen(*instance, request.kind);
    const std::string noun = "container " + instance->id.str();
    CaptureStream::Parts parts;
    parts.turn = take_turn(instance->id.str(), request.kind);
    parts.use = uses_.hold(instance->id.str());
    parts.process = runtime_.exec(instance->id.str(), connect_to_streamer());
    parts.noun = noun;
    parts.limits = CaptureLimits::of(request);
    parts.stopped = stopped_;
    auto stream = std::make_unique<CaptureStream>(std::move(parts));
    stream->begin(request);
    log::info("capture begun",
              {{"container", instance->id.str()}, {"kind", std::string(to_text(request.kind))}});
    return stream;
}

// The turn ends with the last copy of what is returned.
std::shared_ptr<void> CaptureService::take_turn(const std::string& id, CaptureRequest::Kind kind) const {
    const bool records = kind == CaptureRequest::Kind::recording;
    turns_->with([&](Turns& turns) {
        if (turns.count == most_at_once) throw Error(ErrorCode::busy, "too many captures go on");
        if (records && !turns.recorded.insert(id).second)
            throw Error(ErrorCode::busy, "container " + id + " is being recorded already");
        ++turns.count;
    });
    return {nullptr, [turns = turns_, id, records](std::nullptr_t) {
                turns->with([&](Turns& taken) {
                    --taken.count;
                    if (records) taken.recorded.erase(id);
                });
            }};
}

std::size_t CaptureService::running() const {
    return turns_->with([](const Turns& turns) { return turns.count; });
}

void CaptureService::stop() {
    eventfd_write(stopped_->get(), 1);
}

}  // namespace svc
