#pragma once
// A TCP port of the loopback that nobody serves.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/net/client/target.h"
#include "tests/support/eventually.h"

namespace svc::test {

class UnservedPort {
  public:
    UnservedPort() : listener_(made(SOCK_STREAM | SOCK_CLOEXEC)) {
        place_.sin_family = AF_INET;
        place_.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof(place_);
        const bool listens = ::bind(listener_.get(), place(), size) == 0 &&
                             ::listen(listener_.get(), 0) == 0 &&
                             ::getsockname(listener_.get(), place(), &size) == 0;
        if (!listens) throw system_error("cannot listen", errno);
    }

    Target target(bool tls = false) const {
        return Target::parse((tls ? "https://127.0.0.1:" : "http://127.0.0.1:") +
                             std::to_string(ntohs(place_.sin_port)));
    }
    // From now on a connection is neither made nor refused: some others that wait fill the backlog.
    void fill() {
        constexpr int many = 8;
        for (int i = 0; i < many; ++i) {
            waiting_.push_back(made(SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK));
            if (::connect(waiting_.back().get(), place(), sizeof(place_)) != 0 && errno != EINPROGRESS)
                throw system_error("cannot connect", errno);
        }
    }
    // The next one that connects: what it says is not read.
    FileDescriptor accept() const {
        pollfd one{listener_.get(), POLLIN, 0};
        if (::poll(&one, 1, static_cast<int>(std::chrono::milliseconds(long_wait).count())) != 1)
            throw std::runtime_error("nobody connects");
        return FileDescriptor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    }

  private:
    static FileDescriptor made(int type) {
        FileDescriptor fd(::socket(AF_INET, type, 0));
        if (!fd) throw system_error("cannot make socket", errno);
        return fd;
    }
    sockaddr* place() { return reinterpret_cast<sockaddr*>(&place_); }

    sockaddr_in place_{};
    FileDescriptor listener_;
    std::vector<FileDescriptor> waiting_;
};

}  // namespace svc::test
