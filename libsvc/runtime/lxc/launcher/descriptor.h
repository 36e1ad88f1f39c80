#pragma once
// An owned file descriptor, and the calls of the launcher that take or fail on one. Throws LaunchFailure with
// the step and the reason of the kernel.
#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <string_view>
#include <utility>

namespace svc::lxc {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
    ~Descriptor() {
        if (fd_ >= 0) ::close(fd_);
    }

    int get() const { return fd_; }
    explicit operator bool() const { return fd_ >= 0; }
    void reset() { *this = Descriptor(); }

  private:
    int fd_ = -1;
};

// Throws for errno.
[[noreturn]] void fail(std::string_view step);
// The result of a system call; throws where it is negative.
long check(long result, std::string_view step);
Descriptor opened(int folder, const std::string& path, int flags, std::string_view step);
void write_text(int folder, const std::string& path, std::string_view text);  // of a file that is there
std::string read_text(int folder, const std::string& path);

}  // namespace svc::lxc
