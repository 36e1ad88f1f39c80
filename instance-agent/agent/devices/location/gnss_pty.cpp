#include "instance-agent/agent/devices/location/gnss_pty.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <array>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

// Raw mode: else the terminal translates line ends and echoes input.
void make_raw(int fd) {
    termios settings{};
    if (::tcgetattr(fd, &settings) != 0)
        throw system_error("cannot read settings of a pseudo terminal", errno);
    ::cfmakeraw(&settings);
    if (::tcsetattr(fd, TCSANOW, &settings) != 0)
        throw system_error("cannot set up a pseudo terminal", errno);
}

FileDescriptor open_master() {
    FileDescriptor master(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
    if (!master) throw system_error("cannot open a pseudo terminal", errno);
    if (::grantpt(master.get()) != 0 || ::unlockpt(master.get()) != 0)
        throw system_error("cannot unlock a pseudo terminal", errno);
    return master;
}

std::filesystem::path name_of(int master) {
    std::array<char, 64> name{};
    const int error = ::ptsname_r(master, name.data(), name.size());
    if (error != 0) throw system_error("cannot name a pseudo terminal", error);
    return name.data();
}

// Fails when the folder is absent or not writable.
void replace_link(const std::filesystem::path& target, const std::filesystem::path& link) {
    const std::filesystem::path beside = link.string() + ".new";
    ::unlink(beside.c_str());
    if (::symlink(target.c_str(), beside.c_str()) == 0) ::rename(beside.c_str(), link.c_str());
}

bool points_to(const std::filesystem::path& link, const std::filesystem::path& target) {
    std::error_code none;
    return std::filesystem::read_symlink(link, none) == target;
}

// True when the name is free, or is a dangling link.
bool is_free(const std::filesystem::path& link) {
    std::error_code error;
    return !std::filesystem::exists(link, error);
}

}  // namespace

GnssPty::GnssPty(std::filesystem::path link, std::filesystem::path second)
    : master_(open_master()),
      device_(name_of(master_.get())),
      link_(std::move(link)),
      second_(std::move(second)) {
    // Opened and closed once, so that the master reports a hang-up until a reader opens it.
    const FileDescriptor slave = open_file(device_, O_RDWR | O_NOCTTY);
    make_raw(slave.get());
    ::fchmod(slave.get(), 0666);  // every program of the guest may know the position
    keep_links();
}

GnssPty::~GnssPty() {
    if (!second_.empty() && points_to(second_, link_)) ::unlink(second_.c_str());
    if (points_to(link_, device_)) ::unlink(link_.c_str());
}

void GnssPty::keep_links() const {
    const std::lock_guard lock(linking_);
    if (!points_to(link_, device_)) replace_link(device_, link_);
    if (!second_.empty() && !points_to(second_, link_) && is_free(second_)) replace_link(link_, second_);
}

bool GnssPty::has_reader() const {
    pollfd entry{master_.get(), POLLIN, 0};
    return ::poll(&entry, 1, 0) >= 0 && (entry.revents & POLLHUP) == 0;
}

void GnssPty::idle() {
    keep_links();
    if (has_reader()) return drain();
    pending_.clear();
    ::tcflush(master_.get(), TCIOFLUSH);  // the next reader gets no old lines
}

void GnssPty::feed(std::string_view lines) {
    idle();
    if (!has_reader()) return;
    flush_pending();
    if (!pending_.empty()) return;
    pending_ = lines;
    flush_pending();
    if (pending_.size() == lines.size()) pending_.clear();
}

void GnssPty::flush_pending() {
    while (!pending_.empty()) {
        const ssize_t count = ::write(master_.get(), pending_.data(), pending_.size());
        if (count <= 0) return;
        pending_.erase(0, static_cast<std::size_t>(count));
    }
}

void GnssPty::drain() {
    std::array<char, 512> buffer{};
    for (int round = 0; round < 64; ++round)
        if (::read(master_.get(), buffer.data(), buffer.size()) <= 0) return;
}

}  // namespace svc::agent
