#include "instance-agent/streamer/client/custom_channels.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/socket/bind.h"

namespace svc::streamer {

namespace {

constexpr unsigned socket_mode = 0666;  // programs of every user may use the page's channel
constexpr std::size_t max_name = 32;

// False: the connection has ended.
bool send_some(int socket, std::string& unsent) {
    while (!unsent.empty()) {
        const ssize_t sent = send(socket, unsent.data(), unsent.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return errno == EAGAIN || errno == EINTR;
        unsent.erase(0, static_cast<std::size_t>(sent));
    }
    return true;
}

}  // namespace

bool is_channel_name(std::string_view name) {
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
    return !name.empty() && name.size() <= max_name && name != "control" &&
           std::all_of(name.begin(), name.end(), allowed);
}

// A socket that poll() has reported.
struct CustomChannels::Ready {
    int socket = -1;
    short events = 0;
};
struct CustomChannels::Message {
    std::string channel, data;
};

CustomChannels::CustomChannels(std::filesystem::path directory, FromGuest from_guest)
    : directory_(std::move(directory)),
      from_guest_(std::move(from_guest)),
      wake_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

CustomChannels::~CustomChannels() {
    thread_.request_stop();
    wake();
    thread_.join();
    close_all();
}

void CustomChannels::wake() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(wake_.get(), &one, sizeof(one));
}

void CustomChannels::open(const std::string& name) {
    if (!is_channel_name(name))
        throw Error(ErrorCode::invalid_argument, "data channel " + quoted(name) + " has no good name");
    Channel channel;
    channel.path = directory_ / ("webrtc_data_" + name);
    std::lock_guard lock(mutex_);
    if (channels_.contains(name))
        throw Error(ErrorCode::busy, "data channel " + quoted(name) + " is open already");
    channel.listener = net::bind_unix(channel.path, socket_mode, -1);
    channels_.emplace(name, std::move(channel));
    wake();
}

void CustomChannels::close(const std::string& name) {
    std::lock_guard lock(mutex_);
    const auto found = channels_.find(name);
    if (found == channels_.end()) return;
    std::error_code ignored;
    std::filesystem::remove(found->second.path, ignored);
    channels_.erase(found);
    wake();
}

void CustomChannels::close_all() {
    std::vector<std::string> names;
    {
        std::lock_guard lock(mutex_);
        for (const auto& [name, channel] : channels_) names.push_back(name);
    }
    for (const std::string& name : names) close(name);
}

void CustomChannels::to_guest(const std::string& name, std::string_view data) {
    std::lock_guard lock(mutex_);
    const auto found = channels_.find(name);
    if (found == channels_.end()) return;
    Channel& channel = found->second;
    if (!channel.had_connection) {
        if (channel.backlog.size() + data.size() <= max_backlog) channel.backlog += data;
        return;
    }
    std::erase_if(channel.connections, [&](Connection& connection) {
        if (connection.unsent.size() + data.size() > max_unsent) return true;
        connection.unsent += data;
        return !send_some(connection.socket.get(), connection.unsent);
    });
    wake();
}

void CustomChannels::taken(const std::string& name, std::size_t bytes) {
    std::lock_guard lock(mutex_);
    const auto found = channels_.find(name);
    if (found == channels_.end()) return;
    found->second.in_hand -= std::min(bytes, found->second.in_hand);
    wake();
}

void CustomChannels::run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        for (Message& message : serve(wait())) from_guest_(message.channel, std::move(message.data));
    }
}

std::vector<CustomChannels::Ready> CustomChannels::wait() {
    std::vector<pollfd> all{{wake_.get(), POLLIN, 0}};
    {
        std::lock_guard lock(mutex_);
        for (const auto& [name, channel] : channels_) {
            if (channel.connections.size() < max_connections)
                all.push_back({channel.listener.get(), POLLIN, 0});
            const short reading = channel.in_hand < max_in_hand ? POLLIN : 0;
            for (const Connection& connection : channel.connections) {
                const short writing = connection.unsent.empty() ? 0 : POLLOUT;
                const auto events = static_cast<short>(reading | writing);
                if (events != 0) all.push_back({connection.socket.get(), events, 0});
            }
        }
    }
    poll(all.data(), all.size(), -1);
    std::uint64_t ignored = 0;
    if (all[0].revents != 0) {
        [[maybe_unused]] const ssize_t count = ::read(wake_.get(), &ignored, sizeof(ignored));
    }
    std::vector<Ready> ready;
    for (std::size_t i = 1; i < all.size(); ++i)
        if (all[i].revents != 0) ready.push_back({all[i].fd, all[i].revents});
    return ready;
}

// A descriptor may have been closed and reused since poll(): every call here is non-blocking, so that does no
// harm.
std::vector<CustomChannels::Message> CustomChannels::serve(const std::vector<Ready>& ready) {
    std::vector<Message> messages;
    const auto is_ready = [&](int socket) {
        return std::any_of(ready.begin(), ready.end(),
                           [&](const Ready& one) { return one.socket == socket; });
    };
    std::lock_guard lock(mutex_);
    for (auto& [name, channel] : channels_) {
        std::erase_if(channel.connections, [&, &name = name, &channel = channel](Connection& connection) {
            const int socket = connection.socket.get();
            if (!is_ready(socket)) return false;
            if (!send_some(socket, connection.unsent)) return true;
            if (channel.in_hand >= max_in_hand) return false;
            std::string data(chunk, '\0');
            const ssize_t count = recv(socket, data.data(), data.size(), MSG_DONTWAIT);
            if (count < 0) return errno != EAGAIN && errno != EINTR;
            if (count == 0) return true;
            data.resize(static_cast<std::size_t>(count));
            channel.in_hand += data.size();
            messages.push_back({name, std::move(data)});
            return false;
        });
        if (is_ready(channel.listener.get())) accept(channel);
    }
    return messages;
}

void CustomChannels::accept(Channel& channel) {
    FileDescriptor socket(accept4(channel.listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (socket.get() < 0) return;
    channel.connections.push_back({std::move(socket), std::exchange(channel.backlog, {})});
    channel.had_connection = true;
    Connection& connection = channel.connections.back();
    if (!send_some(connection.socket.get(), connection.unsent)) channel.connections.pop_back();
}

}  // namespace svc::streamer
