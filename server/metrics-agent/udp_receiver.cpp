#include "server/metrics-agent/udp_receiver.h"

#include <netdb.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>

#include "libsvc/net/socket/bind.h"

namespace svc::metrics_agent {

namespace {

constexpr std::size_t largest_datagram = 65'536;
constexpr int received_at_once =
    64;  // then the loop looks whether it must stop: datagrams may come without a pause

std::string name_of(const sockaddr_storage& from, socklen_t size) {
    std::array<char, NI_MAXHOST> host{};
    const auto* address = reinterpret_cast<const sockaddr*>(&from);
    const int problem = getnameinfo(address, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
    return problem == 0 ? host.data() : "";
}

}  // namespace

UdpReceiver::UdpReceiver(const std::string& address, Take take)
    : socket_(net::bind_udp(address)), wake_(::eventfd(0, EFD_CLOEXEC)), take_(std::move(take)) {
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

UdpReceiver::~UdpReceiver() {
    thread_.request_stop();
    ::eventfd_write(wake_.get(), 1);
}

void UdpReceiver::run(const std::stop_token& stop) const {
    std::vector<char> datagram(largest_datagram);
    std::array<pollfd, 2> waited{{{socket_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}}};
    while (!stop.stop_requested())
        if (::poll(waited.data(), waited.size(), -1) > 0 && waited[0].revents != 0) receive_some(datagram);
}

// A socket may report errors of packets that were sent earlier. They do not matter here.
void UdpReceiver::receive_some(std::vector<char>& datagram) const {
    for (int i = 0; i < received_at_once; ++i) {
        sockaddr_storage from{};
        socklen_t size = sizeof(from);
        const ssize_t length = ::recvfrom(socket_.get(), datagram.data(), datagram.size(), 0,
                                          reinterpret_cast<sockaddr*>(&from), &size);
        if (length < 0) return;
        take_({datagram.data(), static_cast<std::size_t>(length)}, name_of(from, size));
    }
}

}  // namespace svc::metrics_agent
