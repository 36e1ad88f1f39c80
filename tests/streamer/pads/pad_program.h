#pragma once
// A program of the guest at the socket of a gamepad, without the library.
#include <linux/input.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "libsvc/base/file.h"

namespace svc::test {

class PadProgram {
  public:
    explicit PadProgram(const std::filesystem::path& event)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        event.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
            socket_.reset();
    }
    bool connected() const { return static_cast<bool>(socket_); }
    int fd() const { return socket_.get(); }

    // Waits for a whole report: "type code value" of each event before SYN_REPORT; "gone": there is none.
    std::string report() {
        std::string text;
        for (;;) {
            const auto event = next();
            if (!event) return text + "gone";
            last_ = *event;
            if (event->type == EV_SYN && event->code == SYN_REPORT) return text;
            text += fmt::format("{} {} {};", event->type, event->code, event->value);
        }
    }
    const input_event& last() const { return last_; }
    bool has_nothing() const {
        pollfd state{socket_.get(), POLLIN, 0};
        return poll(&state, 1, 0) == 0;
    }
    // False: its record finds no room.
    bool write(int type, int code, int value, std::size_t bytes = sizeof(input_event)) const {
        input_event event{};
        event.type = static_cast<std::uint16_t>(type);
        event.code = static_cast<std::uint16_t>(code);
        event.value = value;
        return ::send(socket_.get(), &event, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) ==
               static_cast<ssize_t>(bytes);
    }

  private:
    std::optional<input_event> next() const {
        input_event event{};
        if (recv(socket_.get(), &event, sizeof(event), MSG_WAITALL) != sizeof(event)) return std::nullopt;
        return event;
    }

    FileDescriptor socket_;
    input_event last_{};
};

}  // namespace svc::test
