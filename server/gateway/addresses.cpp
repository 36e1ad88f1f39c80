#include "server/gateway/addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <memory>

namespace svc::gateway {

namespace {

// "" for what others cannot connect to: link-local addresses need to know the link.
std::string text_of(const sockaddr* address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (address->sa_family == AF_INET) {
        const auto* in = reinterpret_cast<const sockaddr_in*>(address);
        inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size());
    } else if (address->sa_family == AF_INET6) {
        const auto* in = reinterpret_cast<const sockaddr_in6*>(address);
        if (!IN6_IS_ADDR_LINKLOCAL(&in->sin6_addr))
            inet_ntop(AF_INET6, &in->sin6_addr, text.data(), text.size());
    }
    return text.data();
}

bool is_of_use(const ifaddrs& interface) {
    return interface.ifa_addr != nullptr && (interface.ifa_flags & IFF_UP) != 0 &&
           (interface.ifa_flags & IFF_LOOPBACK) == 0;
}

}  // namespace

std::string host_name() {
    std::array<char, 256> name{};
    return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

std::vector<std::string> machine_addresses() {
    ifaddrs* list = nullptr;
    if (getifaddrs(&list) != 0) return {};
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, &freeifaddrs);
    std::vector<std::string> found;
    for (const int family : {AF_INET, AF_INET6})
        for (const ifaddrs* interface = list; interface != nullptr; interface = interface->ifa_next) {
            if (!is_of_use(*interface) || interface->ifa_addr->sa_family != family) continue;
            if (std::string text = text_of(interface->ifa_addr); !text.empty()) found.push_back(text);
        }
    return found;
}

std::string own_url(std::string_view listening_at) {
    const std::size_t colon = listening_at.rfind(':');
    std::string host(listening_at.substr(0, colon));
    if (host == "[::]" || host == "0.0.0.0") {
        const std::vector<std::string> addresses = machine_addresses();
        host = addresses.empty() ? "127.0.0.1" : addresses.front();
        if (host.find(':') != std::string::npos) host = "[" + host + "]";
    }
    return "https://" + host + std::string(listening_at.substr(colon));
}

}  // namespace svc::gateway
