// Replacements for functions of the C library, linked with --wrap into the static program alone. The C
// library's own versions load shared libraries at run time (name services, modules of OpenSSL), which must be
// of the very C library that the program was linked with; the guest has another one, or none. These versions
// resolve numeric addresses alone and load no modules.
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace {

// freeaddrinfo() gets a pointer to the first member.
struct Found {
    addrinfo info{};
    sockaddr_storage address{};
};

// The port of a numeric service name, in network order; 0 without a service. Nothing: the name is not
// numeric.
std::optional<in_port_t> port_of(const char* service) {
    const std::string_view text(service == nullptr ? "0" : service);
    in_port_t port = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (problem != std::errc() || end != text.data() + text.size()) return {};
    return htons(port);
}

// Fills `found` when the text is an address of this family; false when it is not.
bool read_address(int family, const char* text, in_port_t port, Found& found) {
    auto& v4 = reinterpret_cast<sockaddr_in&>(found.address);
    auto& v6 = reinterpret_cast<sockaddr_in6&>(found.address);
    const bool is_v4 = family == AF_INET;
    void* number = is_v4 ? static_cast<void*>(&v4.sin_addr) : &v6.sin6_addr;
    if (inet_pton(family, text, number) != 1) return false;
    found.address.ss_family = static_cast<sa_family_t>(family);
    (is_v4 ? v4.sin_port : v6.sin6_port) = port;
    found.info.ai_family = family;
    found.info.ai_addrlen = is_v4 ? sizeof(v4) : sizeof(v6);
    found.info.ai_addr = reinterpret_cast<sockaddr*>(&found.address);
    return true;
}

bool fits(const std::string& text, char* place, socklen_t size) {
    if (place == nullptr || size == 0) return true;
    if (text.size() >= size) return false;
    std::memcpy(place, text.c_str(), text.size() + 1);
    return true;
}

}  // namespace

// The linker option --wrap demands these names: "__wrap_" and the symbol.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {

int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result) {
    const auto port = port_of(service);
    if (!port) return EAI_SERVICE;
    auto found = std::make_unique<Found>();
    const int wanted = hints == nullptr ? AF_UNSPEC : hints->ai_family;
    for (const int family : {AF_INET, AF_INET6}) {
        if ((wanted != AF_UNSPEC && wanted != family) || node == nullptr) continue;
        if (!read_address(family, node, *port, *found)) continue;
        found->info.ai_socktype = hints == nullptr ? 0 : hints->ai_socktype;
        found->info.ai_protocol = hints == nullptr ? 0 : hints->ai_protocol;
        *result = &found.release()->info;
        return 0;
    }
    return EAI_NONAME;
}

void __wrap_freeaddrinfo(addrinfo* info) {
    delete reinterpret_cast<Found*>(info);
}

int __wrap_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size,
                       char* service, socklen_t service_size, int /*flags*/) {
    const auto& v4 = *reinterpret_cast<const sockaddr_in*>(address);
    const auto& v6 = *reinterpret_cast<const sockaddr_in6*>(address);
    const bool is_v4 = size >= sizeof(v4) && address->sa_family == AF_INET;
    if (!is_v4 && (size < sizeof(v6) || address->sa_family != AF_INET6)) return EAI_FAMILY;
    char text[INET6_ADDRSTRLEN] = {};
    const void* number = is_v4 ? static_cast<const void*>(&v4.sin_addr) : &v6.sin6_addr;
    if (inet_ntop(address->sa_family, number, text, sizeof(text)) == nullptr) return EAI_SYSTEM;
    const std::string port = std::to_string(ntohs(is_v4 ? v4.sin_port : v6.sin6_port));
    return fits(text, host, host_size) && fits(port, service, service_size) ? 0 : EAI_OVERFLOW;
}

hostent* __wrap_gethostbyname(const char* /*name*/) {
    h_errno = HOST_NOT_FOUND;
    return nullptr;
}

void* __wrap_dlopen(const char* /*file*/, int /*mode*/) {
    return nullptr;
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)
