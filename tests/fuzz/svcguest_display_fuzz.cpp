// What a streamer says to libsvcguest's display, packet by packet. Whatever comes, nothing is up that was not
// down, and nothing is down in the end.
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <tuple>

#include "instance-agent/libsvcguest/svcguest.h"
#include "libsvc/base/file.h"
#include "tests/fuzz/packets.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::svcguest_display_target {

namespace {

void hold(bool holds) {
    if (!holds) std::abort();
}

// What a program believes to be down: type, id, code.
using Down = std::set<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>>;

void on_input(void* user, const svcguest_input* input) {
    Down& down = *static_cast<Down*>(user);
    const bool finger = input->type >= SVCGUEST_TOUCH_DOWN && input->type <= SVCGUEST_TOUCH_UP;
    const bool pad = input->type == SVCGUEST_PAD_BUTTON;
    const bool key = input->type == SVCGUEST_KEY || input->type == SVCGUEST_BUTTON;
    hold(!finger || input->id < SVCGUEST_FINGERS);
    if (input->type == SVCGUEST_TOUCH_MOVE) return hold(down.count({0, input->id, 0}) == 1);
    const std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> what{finger ? 0
                                                                       : pad  ? 2
                                                                              : 1,
                                                                       finger || pad ? input->id : 0,
                                                                       finger ? 0 : input->code};
    if (!finger && !pad && !key) return;
    const bool is_down = finger ? input->type == SVCGUEST_TOUCH_DOWN : input->pressed;
    if (is_down)
        hold(down.insert(what).second);
    else
        hold(down.erase(what) == 1);
}

struct Streamer {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "fuzz-"};
    std::string path = (folder.path() / "display").string();
    FileDescriptor listener{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
    Streamer() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.copy(address.sun_path, sizeof(address.sun_path) - 1);
        hold(bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0);
        hold(listen(listener.get(), 4) == 0);
    }
    FileDescriptor accept() const {
        return FileDescriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    }
};

}  // namespace

FUZZ_TARGET(svcguest_display)(const std::uint8_t* data, std::size_t size) {
    static Streamer streamer;
    Down down;
    svcguest_display_handlers handlers{};
    handlers.input = on_input;
    svcguest_display* const display =
        svcguest_display_open(streamer.path.c_str(), &handlers, sizeof(handlers), &down, nullptr);
    hold(display != nullptr);
    FileDescriptor connection = streamer.accept();
    svcguest_pixels pixels{};
    const int buffer = svcguest_display_new_buffer(display, 16, 8, SVCGUEST_RGBA, &pixels);
    for_each_packet(data, size, [&](std::uint8_t mark, const std::string& packet) {
        send(connection.get(), packet.data(), packet.size(), MSG_NOSIGNAL);
        if ((mark & 1) != 0) svcguest_display_dispatch(display, 0);
        if ((mark & 2) != 0) svcguest_display_present(display, static_cast<std::uint32_t>(buffer));
    });
    connection.reset();
    while (svcguest_display_dispatch(display, 0) > 0) continue;
    hold(down.empty());
    svcguest_display_close(display);
    return 0;
}

}  // namespace svc::fuzz::svcguest_display_target
