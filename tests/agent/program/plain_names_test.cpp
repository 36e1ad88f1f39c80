// The static agent's replacement for the name services of the C library.
#include <netdb.h>
#include <netinet/in.h>

#include <catch2/catch.hpp>
#include <string>

// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
extern "C" {
int __wrap_getaddrinfo(const char* node, const char* service, const addrinfo* hints, addrinfo** result);
void __wrap_freeaddrinfo(addrinfo* info);
int __wrap_getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size,
                       char* service, socklen_t service_size, int flags);
hostent* __wrap_gethostbyname(const char* name);
void* __wrap_dlopen(const char* file, int mode);
}
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

namespace {

// "family address port", as it was found and named again; else the error.
std::string found(const char* node, const char* service, int family = AF_UNSPEC) {
    addrinfo hints{};
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* info = nullptr;
    if (const int error = __wrap_getaddrinfo(node, service, &hints, &info); error != 0)
        return gai_strerror(error);
    char host[NI_MAXHOST] = {}, port[NI_MAXSERV] = {};
    const int error =
        __wrap_getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), port, sizeof(port), 0);
    const bool is_whole =
        error == 0 && info->ai_socktype == SOCK_STREAM && info->ai_family == info->ai_addr->sa_family;
    const std::string text =
        std::string(info->ai_family == AF_INET6 ? "v6 " : "v4 ") + host + " " + port + (is_whole ? "" : "?");
    __wrap_freeaddrinfo(info);
    return text;
}

}  // namespace

TEST_CASE("addresses of both families are numbers, and are named as numbers") {
    CHECK(found("192.168.100.1", "8444") == "v4 192.168.100.1 8444");
    CHECK(found("fd00::1", "65535") == "v6 fd00::1 65535");
    CHECK(found("::", nullptr) == "v6 :: 0");
    CHECK(found("127.0.0.1", "80", AF_INET) == "v4 127.0.0.1 80");
}

TEST_CASE("names are not looked up, and ports are numbers") {
    const std::string unknown = gai_strerror(EAI_NONAME), no_port = gai_strerror(EAI_SERVICE);
    CHECK(found("example.org", "80") == unknown);
    CHECK(found("", "80") == unknown);
    CHECK(found(nullptr, "80") == unknown);
    CHECK(found("127.0.0.1", "80", AF_INET6) == unknown);
    CHECK(found("127.0.0.1", "http") == no_port);
    CHECK(found("127.0.0.1", "65536") == no_port);
    CHECK(__wrap_gethostbyname("localhost") == nullptr);
    CHECK(__wrap_dlopen("libc.so.6", 1) == nullptr);
}

TEST_CASE("an address that does not fit its place is said not to") {
    addrinfo* info = nullptr;
    REQUIRE(__wrap_getaddrinfo("192.168.100.1", "1", nullptr, &info) == 0);
    char host[13] = {};
    CHECK(__wrap_getnameinfo(info->ai_addr, info->ai_addrlen, host, sizeof(host), nullptr, 0, 0) ==
          EAI_OVERFLOW);
    CHECK(__wrap_getnameinfo(info->ai_addr, 4, host, sizeof(host), nullptr, 0, 0) == EAI_FAMILY);
    __wrap_freeaddrinfo(info);
}
