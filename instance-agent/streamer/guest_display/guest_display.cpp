#include "instance-agent/streamer/guest_display/guest_display.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <optional>
#include <utility>

#include "instance-agent/libsvcguest/display_wire.h"
#include "instance-agent/streamer/guest_display/display_connection.h"
#include "instance-agent/streamer/guest_display/named_listener.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

constexpr uid_t instance_user = 1000;          // Android's `system`
constexpr std::string_view changed_mode = "";  // among the packets: the mode is told here

// The user of the instance may draw, besides root.
void give_to_user(const std::string& path) {
    if (geteuid() == 0 && lchown(path.c_str(), instance_user, instance_user) != 0)
        throw system_error("display socket", errno);
}

bool may_draw(int socket) {
    ucred peer{};
    socklen_t size = sizeof(peer);
    return getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == 0 || peer.uid == instance_user || peer.uid == geteuid());
}

std::string mode_packet(const DisplayMode& mode, bool watched) {
    const auto number = [](int value) { return static_cast<std::uint32_t>(value); };
    return packet_of(wire_mode{WIRE_MODE, number(mode.width), number(mode.height), number(mode.density),
                               number(mode.fps), watched ? 1U : 0U});
}

}  // namespace

class GuestDisplay::Loop {
  public:
    Loop(const std::string& path, GuestDisplay& display)
        : display_(display), listener_(path, SOCK_SEQPACKET, "display socket") {
        give_to_user(path);
    }
    void run(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            const auto ready = wait();
            if (ready.orders) display_.wake_.drain();
            if (program_ && (ready.program || ready.returns)) converse([&] { listen(ready); });
            if (program_) converse([&] { tell(); });
            if (ready.newcomer) greet_newcomer();
        }
    }

  private:
    struct Ready {
        bool newcomer = false, orders = false, program = false, returns = false;
    };
    Ready wait() const {
        std::array<pollfd, 4> polled{{{listener_.fd(), POLLIN, 0}, {display_.wake_.fd(), POLLIN, 0}, {}, {}}};
        if (program_) {
            polled[2] = {program_->fd(), program_->events(), 0};
            polled[3] = {program_->returns_fd(), POLLIN, 0};
        }
        if (poll(polled.data(), program_ ? 4 : 2, -1) <= 0) return {};
        return {polled[0].revents != 0, polled[1].revents != 0, polled[2].revents != 0,
                polled[3].revents != 0};
    }

    void listen(const Ready& ready) {
        if (ready.returns) program_->give_back();
        if (!ready.program) return;
        if (const auto frame = program_->read()) display_.feed_.show(frame);
    }

    // What was ordered before the hello is of no use to it.
    void tell() {
        Orders orders = display_.orders_.with([&](Orders& all) {
            return Orders{all.mode, std::exchange(all.packets, {}), true};
        });
        if (orders.packets.size() > DisplayConnection::most_waiting)
            throw Error(ErrorCode::exhausted, "the program does not read what it is told");
        if (!program_->greeted()) return;
        const auto mode = [&] { return mode_packet(orders.mode, display_.feed_.is_watched()); };
        if (!std::exchange(told_, true)) program_->send(mode());
        for (std::string& packet : orders.packets)
            program_->send(packet == changed_mode ? mode() : std::move(packet));
    }

    // A program at fault is told so and has to go.
    template <class Work>
    void converse(Work work) {
        try {
            work();
        } catch (const Error& e) {
            log::info("no program draws the display any more", {{"reason", e.what()}});
            if (e.code() != ErrorCode::unavailable) program_->refuse(e.what());
            part();
        }
    }
    void part() {
        program_.reset();
        display_.orders_.with([](Orders& orders) {
            orders.has_program = false;
            orders.packets.clear();
        });
    }

    void greet_newcomer() try { welcome(); } catch (const Error& e) {
        log::warning("a program cannot be given the display", {{"reason", e.what()}});
    }
    void welcome() {
        FileDescriptor socket = listener_.accept();
        if (!socket) return;
        if (!may_draw(socket.get()))
            return DisplayConnection(std::move(socket)).refuse("root and user 1000 alone draw the display");
        if (program_) return DisplayConnection(std::move(socket)).refuse("another program draws the display");
        program_ = std::make_unique<DisplayConnection>(std::move(socket));
        told_ = false;
        display_.orders_.with([](Orders& orders) { orders.has_program = true; });
    }

    GuestDisplay& display_;
    NamedListener listener_;
    std::unique_ptr<DisplayConnection> program_;  // null: none draws
    bool told_ = false;                           // the program knows the mode
};

GuestDisplay::GuestDisplay(const std::string& path, DisplayMode mode)
    : orders_(Orders{mode}), loop_(std::make_unique<Loop>(path, *this)) {
    thread_ = std::jthread([this](const std::stop_token& stop) {
        pthread_setname_np(pthread_self(), "guest-display");
        loop_->run(stop);
    });
}

GuestDisplay::~GuestDisplay() {
    thread_.request_stop();
    wake_.wake();
    thread_.join();
}

void GuestDisplay::Orders::change_mode() {
    if (has_program && (packets.empty() || packets.back() != changed_mode))
        packets.emplace_back(changed_mode);
}

template <class Change>
void GuestDisplay::order(Change change) {
    orders_.with(change);
    wake_.wake();
}

void GuestDisplay::set_size(int width, int height) {
    order([&](Orders& orders) {
        if (orders.mode.width != width || orders.mode.height != height) orders.change_mode();
        orders.mode.width = width;
        orders.mode.height = height;
    });
}

void GuestDisplay::set_density(int density) {
    order([&](Orders& orders) {
        if (orders.mode.density != density) orders.change_mode();
        orders.mode.density = density;
    });
}

DisplayMode GuestDisplay::mode() const {
    return orders_.with([](const Orders& orders) { return orders.mode; });
}

// One packet more than may wait ends the program, as a lost one could leave a key down.
void GuestDisplay::send(std::string packet) {
    order([&](Orders& orders) {
        if (orders.has_program && orders.packets.size() <= DisplayConnection::most_waiting)
            orders.packets.push_back(std::move(packet));
    });
}

int GuestDisplay::watch(FrameFeed::Sink sink) {
    const int watcher = feed_.add(std::move(sink));
    order([](Orders& orders) { orders.change_mode(); });
    return watcher;
}

void GuestDisplay::unwatch(int watcher) {
    feed_.remove(watcher);
    order([](Orders& orders) { orders.change_mode(); });
}

}  // namespace svc::streamer
