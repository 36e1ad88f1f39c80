#include "tests/bench/load/callers.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"

namespace svc::bench {

namespace {

using Steady = std::chrono::steady_clock;

constexpr std::size_t connections = 32;
constexpr std::chrono::seconds longest_debt{1};  // a rate that cannot be kept is not made up for later

}  // namespace

Callers::Callers(const Endpoint& endpoint, const std::string& method, const std::string& path,
                 const std::string& body)
    : request_(method + " " + path +
               " HTTP/1.1\r\nHost: svc\r\nContent-Type: application/json\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body) {
    for (std::size_t i = 0; i < connections; ++i) {
        callers_.push_back(std::make_unique<Caller>(endpoint));
        Progress progress = Progress::want_read;
        while ((progress = callers_.back()->stream.handshake()) != Progress::done)
            if (progress == Progress::ended) throw Error(ErrorCode::unavailable, "caller was refused");
    }
}

void Callers::set_rate(double per_second) {
    interval_ = std::chrono::nanoseconds(static_cast<std::int64_t>(1e9 / per_second));
    next_ = Steady::now();
}

bool Callers::busy() const {
    return std::any_of(callers_.begin(), callers_.end(), [](const auto& caller) { return caller->waiting; });
}

// A request fits into the socket's buffer: fewer than one waits at a time.
void Callers::call(Caller& caller) {
    std::size_t sent = 0;
    while (sent < request_.size()) {
        const Moved moved = caller.stream.write(request_.data() + sent, request_.size() - sent);
        if (moved.progress == Progress::ended) throw Error(ErrorCode::unavailable, "caller was cut off");
        sent += moved.bytes;
    }
    caller.waiting = true;
}

void Callers::receive(Caller& caller) {
    std::array<char, 16384> buffer{};
    const Moved moved = caller.stream.read(buffer.data(), buffer.size());
    if (moved.progress == Progress::ended) throw Error(ErrorCode::unavailable, "caller was cut off");
    std::string_view data(buffer.data(), moved.bytes);
    while (!data.empty()) {
        if (!caller.reader.feed(data)) return;
        caller.waiting = false;
        caller.reader.status() / 100 == 2 ? ++answered_ : ++failed_;
    }
}

void Callers::advance(bool more) {
    const auto now = Steady::now();
    next_ = std::max(next_, now - longest_debt);
    for (const auto& caller : callers_) {
        if (caller->waiting) receive(*caller);
        if (caller->waiting || !more || next_ > now) continue;
        next_ += interval_;
        call(*caller);
    }
}

}  // namespace svc::bench
