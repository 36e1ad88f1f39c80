#pragma once
// Ethernet frames as bytes, and a port that sends and takes them in a network namespace: what root of a guest
// can do with a raw socket.
#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"

namespace svc::test {

inline std::string u8(unsigned value) {
    return {static_cast<char>(value)};
}
inline std::string u16(unsigned value) {
    return u8(value >> 8) + u8(value & 255);
}
inline std::string u32(std::uint32_t value) {
    return u16(value >> 16) + u16(value & 0xffff);
}
inline std::string ip_bytes(const std::string& text) {
    in_addr address{};
    if (::inet_pton(AF_INET, text.c_str(), &address) != 1) throw Error(ErrorCode::invalid_argument, text);
    return u32(ntohl(address.s_addr));
}
inline std::string ip6_bytes(const std::string& text) {
    std::string bytes(16, '\0');
    if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1)
        throw Error(ErrorCode::invalid_argument, text);
    return bytes;
}
inline std::string mac_bytes(const std::string& text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); at += 3)
        bytes += u8(static_cast<unsigned>(std::stoi(text.substr(at, 2), nullptr, 16)));
    return bytes;
}
// The hardware address that goes with an IPv4 address of the bridge's network.
inline std::string mac_of(const std::string& address) {
    return mac_bytes(lxc::hardware_address(address));
}
inline const std::string all_macs(6, '\xff');

inline unsigned internet_checksum(const std::string& bytes) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i)
        sum += static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[i])) << (i % 2 == 0 ? 8 : 0);
    while (sum >> 16 != 0) sum = (sum & 0xffff) + (sum >> 16);
    return ~sum & 0xffff;
}

inline std::string ethernet(const std::string& to, const std::string& from, unsigned type,
                            const std::string& payload) {
    std::string frame = to + from + u16(type) + payload;
    if (frame.size() < 60) frame.resize(60, '\0');
    return frame;
}

struct Arp {
    unsigned operation = 1;  // 1: request, 2: reply
    std::string sender_mac, sender_ip, target_mac = std::string(6, '\0'), target_ip;
};
inline std::string arp_bytes(const Arp& arp, const std::string& mark) {
    return u16(1) + u16(0x0800) + u8(6) + u8(4) + u16(arp.operation) + arp.sender_mac +
           ip_bytes(arp.sender_ip) + arp.target_mac + ip_bytes(arp.target_ip) + mark;
}

inline std::string ipv4(const std::string& from, const std::string& to, unsigned protocol,
                        const std::string& payload, unsigned fragment = 0) {
    const auto header = [&](unsigned checksum) {
        return u16(0x4500) + u16(static_cast<unsigned>(20 + payload.size())) + u16(0x1234) + u16(fragment) +
               u8(64) + u8(protocol) + u16(checksum) + ip_bytes(from) + ip_bytes(to);
    };
    return header(internet_checksum(header(0))) + payload;
}
inline std::string udp(unsigned from, unsigned to, const std::string& payload) {
    return u16(from) + u16(to) + u16(static_cast<unsigned>(8 + payload.size())) + u16(0) + payload;
}
inline std::string echo_request(const std::string& payload) {
    const auto message = [&](unsigned checksum) { return u16(0x0800) + u16(checksum) + u32(7) + payload; };
    return message(internet_checksum(message(0)));
}

inline std::string icmpv6(const std::string& from, const std::string& to, unsigned type,
                          const std::string& body) {
    const auto message = [&](unsigned checksum) { return u16(type << 8) + u16(checksum) + body; };
    const std::string size = u32(static_cast<std::uint32_t>(message(0).size()));
    const std::string pseudo = ip6_bytes(from) + ip6_bytes(to) + size + u32(58) + message(0);
    return u32(0x60000000) + u16(static_cast<unsigned>(message(0).size())) + u8(58) + u8(255) +
           ip6_bytes(from) + ip6_bytes(to) + message(internet_checksum(pseudo));
}
// "I am a router for half an hour, and this is your prefix."
inline std::string router_advertisement(const std::string& prefix) {
    const std::string lifetime = u32(1800);
    return icmpv6("fe80::bad", "ff02::1", 134,
                  u8(64) + u8(0) + u16(1800) + u32(0) + u32(0) + u8(3) + u8(4) + u8(64) + u8(0xc0) +
                      lifetime + lifetime + u32(0) + ip6_bytes(prefix));
}

// A raw socket on an interface of the namespace of process `pid`.
class RawPort {
  public:
    RawPort(int pid, const std::string& interface) {
        std::string failure;
        std::thread([&] { open(pid, interface, failure); }).join();  // the thread alone enters the namespace
        if (!failure.empty()) throw Error(ErrorCode::internal, failure);
    }
    void send(const std::string& frame) const {
        if (::send(socket_.get(), frame.data(), frame.size(), 0) < 0)
            throw system_error("cannot send a frame", errno);
    }
    // Reads what arrived until a frame has `end`, and tells whether one before it had `mark`.
    bool saw(std::string_view mark, std::string_view end) const {
        bool found = false;
        for (;;) {
            const std::string frame = next();
            if (frame.find(end) != std::string::npos) return found;
            found = found || frame.find(mark) != std::string::npos;
        }
    }
    std::string next() const {  // that came from elsewhere
        std::array<char, 65536> buffer;
        for (;;) {
            pollfd entry{socket_.get(), POLLIN, 0};
            if (::poll(&entry, 1, 60'000) <= 0) throw Error(ErrorCode::unavailable, "no frame came");
            sockaddr_ll from{};
            socklen_t size = sizeof from;
            const ssize_t got = ::recvfrom(socket_.get(), buffer.data(), buffer.size(), 0,
                                           reinterpret_cast<sockaddr*>(&from), &size);
            if (got < 0 && errno != EINTR) throw system_error("cannot take a frame", errno);
            if (got >= 0 && from.sll_pkttype != PACKET_OUTGOING)
                return {buffer.data(), static_cast<std::size_t>(got)};
        }
    }

  private:
    void open(int pid, const std::string& interface, std::string& failure) {
        const std::string space = "/proc/" + std::to_string(pid) + "/ns/net";
        const FileDescriptor target(::open(space.c_str(), O_RDONLY | O_CLOEXEC));
        sockaddr_ll address{};
        address.sll_family = AF_PACKET;
        address.sll_protocol = htons(ETH_P_ALL);
        if (!target || ::setns(target.get(), CLONE_NEWNET) != 0)
            return void(failure = "cannot enter " + space);
        socket_ = FileDescriptor(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL)));
        address.sll_ifindex = static_cast<int>(::if_nametoindex(interface.c_str()));
        if (!socket_ || ::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
            failure = "no raw socket on " + interface + ": " + std::to_string(errno);
    }

    FileDescriptor socket_;
};

}  // namespace svc::test
