#pragma once
// Two guests on a bridge of their own, with what their root may send and what arrives; services of the host.
#include <netinet/in.h>

#include <memory>

#include "tests/system/lxc_fixture.h"
#include "tests/system/raw_frames.h"

namespace svc::test {

inline const std::string mark = "forged";
inline const std::string stranger = "203.0.113.77";
inline const std::string strange_mac = mac_bytes("02:16:cb:00:71:4d");

inline std::string output_of(const std::string& script) {
    return run_command({"/bin/sh", "-c", script}, patience).output;
}

// Bound to a port of every address; 0: a free one. Throws unavailable where it is taken.
inline FileDescriptor bound_socket(int type, std::uint16_t& port) {
    FileDescriptor socket(::socket(AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));  // takes IPv4 as well
    sockaddr_in6 own{};
    own.sin6_family = AF_INET6;
    own.sin6_port = htons(port);
    socklen_t size = sizeof own;
    if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&own), size) != 0 ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&own), &size) != 0)
        throw system_error("cannot bind a socket", errno);
    if (type == SOCK_STREAM && ::listen(socket.get(), 500) != 0) throw system_error("cannot listen", errno);
    port = ntohs(own.sin6_port);
    return socket;
}

// A service of the host, by both protocols on one port.
struct HostService {
    HostService() {
        while (!stream) try {
                port = 0;
                datagrams = bound_socket(SOCK_DGRAM, port);
                stream = bound_socket(SOCK_STREAM, port);
            } catch (const Error&) {  // somebody else has the port for the other protocol
            }
    }
    std::uint16_t port = 0;
    FileDescriptor datagrams, stream;
};

inline std::string datagram(int socket) {
    std::array<char, 2048> buffer;
    const ssize_t got = ::recv(socket, buffer.data(), buffer.size(), 0);
    return got < 0 ? "" : std::string(buffer.data(), static_cast<std::size_t>(got));
}

// Two guests, a raw socket in each, one on the bridge; a service of the host that guests may reach and one
// that they may not.
struct TwoGuests {
    explicit TwoGuests(const std::function<void(LxcOptions&)>& change = {}) {
        LxcOptions& options = fixture.options();
        options.guest_ports = {{false, open_port, open_port}, {true, open_port, open_port}};
        if (change) change(options);
        fixture.reopen();
        fixture.add_layer("base", patient_init);
        for (unsigned number : {2, 3}) {
            const std::string id = number == 2 ? "a" : "b";
            fixture.runtime().create(fixture.spec(id, number));
            fixture.runtime().start(id);
        }
        own = fixture.spec("a", 2).address;
        other = fixture.spec("b", 3).address;
        gateway = options.subnet.substr(0, options.subnet.find('/'));
        port = open_port_of("a");
        other_port = open_port_of("b");
        host = std::make_unique<RawPort>(::getpid(), options.bridge);
    }

    std::unique_ptr<RawPort> open_port_of(const std::string& id) {
        return std::make_unique<RawPort>(fixture.runtime().inspect(id)->init_pid, "eth0");
    }
    std::string device(const std::string& id) {
        return read_file(fixture.container(id) / "config")
            .substr(read_file(fixture.container(id) / "config").find("lxc.net.0.veth.pair = ") + 22, 15);
    }
    std::string from_own(const std::string& target_mac, const std::string& packet) const {
        return ethernet(target_mac, mac_of(own), 0x0800, packet);
    }
    std::string to_gateway(const std::string& packet) const { return from_own(mac_of(gateway), packet); }
    std::string marked_udp(const std::string& from, const std::string& to) const {
        return ipv4(from, to, 17, udp(4000, open_port, mark));
    }

    // Whether a frame that the first guest sends comes to the bridge of the host, and to the other guest.
    bool reaches_host(const std::string& frame) {
        port->send(frame);
        return host->saw(mark, end_at_host());
    }
    bool reaches_other(const std::string& frame) {
        port->send(frame);
        host->saw(mark, end_at_host());
        const std::string end = next_end();
        host->send(
            ethernet(mac_of(other), mac_of(gateway), 0x0800, ipv4(gateway, other, 1, echo_request(end))));
        return other_port->saw(mark, end);
    }
    bool reaches_anybody(const std::string& frame) { return reaches_host(frame) || reaches_other(frame); }
    // The end of what the host takes from the first guest.
    std::string end_at_host() {
        const std::string end = next_end();
        port->send(to_gateway(ipv4(own, gateway, 1, echo_request(end))));
        return end;
    }
    std::string next_end() { return "end-" + std::to_string(++ends) + "."; }

    // Whether a datagram in such a frame reaches the closed service of the host.
    bool is_served(const std::string& frame) {
        port->send(frame);
        const std::string end = next_end();
        port->send(to_gateway(ipv4(own, gateway, 17, udp(4000, open_port, end))));
        if (!eventually([&] { return datagram(open_service.datagrams.get()) == end; }))
            throw Error(ErrorCode::unavailable, "the open service is not reached");
        return datagram(closed_service.datagrams.get()) == mark;
    }

    HostService open_service, closed_service;
    const std::uint16_t open_port = open_service.port, closed_port = closed_service.port;
    LxcFixture fixture;
    std::string own, other, gateway;
    std::unique_ptr<RawPort> port, other_port, host;
    int ends = 0;
};

// A TCP socket of the namespace of process `pid`, on its way to an address.
inline FileDescriptor connecting(int pid, const std::string& address, std::uint16_t port) {
    FileDescriptor socket;
    std::thread([&] {
        const FileDescriptor space = open_file("/proc/" + std::to_string(pid) + "/ns/net", O_RDONLY);
        if (::setns(space.get(), CLONE_NEWNET) != 0) return;
        socket = FileDescriptor(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    }).join();
    sockaddr_in target{};
    target.sin_family = AF_INET;
    target.sin_port = htons(port);
    ::inet_pton(AF_INET, address.c_str(), &target.sin_addr);
    ::connect(socket.get(), reinterpret_cast<sockaddr*>(&target), sizeof target);
    return socket;
}

inline bool is_connected(const FileDescriptor& socket,
                         std::chrono::milliseconds limit = std::chrono::milliseconds(0)) {
    pollfd entry{socket.get(), POLLOUT, 0};
    if (::poll(&entry, 1, static_cast<int>(limit.count())) <= 0) return false;
    int failure = 0;
    socklen_t size = sizeof failure;
    ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
    return failure == 0;
}

}  // namespace svc::test
