#include "server/process/patience.h"

#include <systemd/sd-daemon.h>

#include <utility>

#include "libsvc/base/log.h"

namespace svc::process {

namespace {

constexpr Duration between_tries = std::chrono::milliseconds(500);
constexpr Duration between_words = std::chrono::seconds(30);
// A try may take so long: the next one tells systemd again.
constexpr const char* more_time = "EXTEND_TIMEOUT_USEC=120000000\nSTATUS=waiting for ";

}  // namespace

Patience::Patience(std::string what, Clock& clock) : what_(std::move(what)), clock_(clock) {}

Patience::~Patience() {
    if (!waited_) return;
    sd_notify(0, "STATUS=");
    log::info(what_ + " answers");
}

void Patience::pause(const std::string& reason) {
    const SteadyTime now = clock_.steady_now();
    if (!waited_ || now >= next_words_) {
        log::warning("waiting for " + what_, {{"reason", reason}});
        next_words_ = now + between_words;
    }
    waited_ = true;
    sd_notify(0, (more_time + what_).c_str());
    clock_.wait({}, between_tries);
}

}  // namespace svc::process
