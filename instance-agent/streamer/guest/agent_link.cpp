#include "instance-agent/streamer/guest/agent_link.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>

#include "instance-agent/libsvcguest/svcguest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {

namespace {

struct CloseGuest {
    void operator()(svcguest* guest) const { svcguest_close(guest); }
};

}  // namespace

AgentLink::AgentLink(std::filesystem::path socket, Clock& clock, AgentListener listener)
    : socket_(std::move(socket)),
      clock_(clock),
      listener_(std::move(listener)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

AgentLink::~AgentLink() {
    thread_.request_stop();
    wake();
    thread_.join();
}

void AgentLink::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void AgentLink::set_active(bool active) {
    active_ = active;
    wake();
}

void AgentLink::run(const std::stop_token& stop) {
    while (!stop.stop_requested() && !detached_) {
        int error = 0;
        const std::unique_ptr<svcguest, CloseGuest> guest(
            svcguest_connect(socket_.c_str(), "svc-streamer", &error));
        if (guest && attach(guest.get())) {
            complained_ = false;
            serve(stop, guest.get());
        } else if (!std::exchange(complained_, true)) {
            log::warning("not attached to the agent, trying again",
                         {{"error", guest ? svcguest_error(guest.get()) : std::strerror(-error)}});
        }
        if (!detached_) clock_.wait(stop, retry_pause);
    }
}

bool AgentLink::attach(svcguest* guest) {
    svcguest_handlers handlers{};
    handlers.other = [](void* self, const char* event, const char* json) {
        static_cast<AgentLink*>(self)->take_event(event, json);
    };
    svcguest_set_handlers(guest, &handlers, sizeof(handlers), this);
    const char* answer = nullptr;
    if (svcguest_call(guest, "stream.attach", nullptr, &answer) != 0) return false;
    told_active_ = false;
    listener_.attached(Json::parse(answer));
    return true;
}

void AgentLink::serve(const std::stop_token& stop, svcguest* guest) {
    while (!stop.stop_requested() && svcguest_is_alive(guest) && !detached_) {
        tell_state(guest);
        pollfd waits[2] = {{svcguest_fd(guest), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
        poll(waits, 2, -1);
        std::uint64_t ignored = 0;
        if (waits[1].revents != 0) {
            [[maybe_unused]] const ssize_t count = read(wake_.get(), &ignored, sizeof(ignored));
        }
        if (waits[0].revents != 0) svcguest_dispatch(guest, 0);
    }
}

void AgentLink::tell_state(svcguest* guest) {
    const bool active = active_;
    if (active == told_active_) return;
    if (svcguest_call(guest, "stream.state", active ? "\"active\":true" : "\"active\":false", nullptr) == 0)
        told_active_ = active;
}

void AgentLink::take_event(const std::string& name, const std::string& text) try {
    if (name == "stream.detached") {
        log::warning("another streamer has taken the place at the agent");
        detached_ = true;
        return;
    }
    listener_.event(name, Json::parse(text));
} catch (const Error& e) {
    log::warning("event of the agent ignored", {{"event", name}, {"error", e.what()}});
}

}  // namespace svc::streamer
