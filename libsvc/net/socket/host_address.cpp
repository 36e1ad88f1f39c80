#include "libsvc/net/socket/host_address.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <memory>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

std::string host_address(const std::string& host) {
    const auto check = [&](int error) {
        if (error != 0)
            throw Error(ErrorCode::unavailable,
                        "cannot look up host " + quoted(host) + ": " + gai_strerror(error));
    };
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* list = nullptr;
    check(getaddrinfo(host.c_str(), nullptr, &hints, &list));
    const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> all(list, freeaddrinfo);
    const addrinfo* found = list;
    while (found != nullptr && found->ai_family != AF_INET) found = found->ai_next;
    if (found == nullptr) found = list;
    std::array<char, NI_MAXHOST> text{};
    check(
        getnameinfo(found->ai_addr, found->ai_addrlen, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST));
    return text.data();
}

}  // namespace svc
