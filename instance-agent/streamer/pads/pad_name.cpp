#include "instance-agent/streamer/pads/pad_name.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "instance-agent/gamepad/pad_wire.h"
#include "libsvc/base/error.h"

namespace svc::streamer {
namespace {

constexpr gid_t instance_group = 1000;  // of the guest's user
constexpr int most_devices = 256, waiting_connections = 16;
constexpr const char* what = "gamepad";

std::filesystem::path event_name(const std::filesystem::path& folder, int number) {
    return folder / ("event" + std::to_string(number));
}

std::filesystem::path description_name(const std::filesystem::path& folder, int number) {
    return folder / (PAD_PREFIX + std::to_string(number));
}

std::filesystem::path bound_name(const std::filesystem::path& folder, int number) {
    return description_name(folder, number) += PAD_BOUND_SUFFIX;
}

ino_t inode_of(const std::filesystem::path& path) {
    struct stat status {};
    return lstat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

// False: the name is taken.
bool bind_to(const FileDescriptor& fd, const std::filesystem::path& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (path.native().size() >= sizeof(address.sun_path))
        throw Error(ErrorCode::invalid_argument, "the path of the folder of gamepads is too long");
    std::memcpy(address.sun_path, path.c_str(), path.native().size() + 1);
    if (bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return true;
    if (errno == EADDRINUSE) return false;
    throw system_error(what, errno);
}

// The lowest number that is free, whose socket `fd` then is.
int take_number(const FileDescriptor& fd, const std::filesystem::path& folder) {
    for (int number = 0; number < most_devices; ++number)
        if (inode_of(event_name(folder, number)) == 0 && bind_to(fd, bound_name(folder, number)))
            return number;
    throw Error(ErrorCode::exhausted, "there are too many input devices");
}

// The number of a gamepad by its bound name; -1: it is none.
int number_of(const std::string& name) {
    for (int number = 0; number < most_devices; ++number)
        if (name == PAD_PREFIX + std::to_string(number) + PAD_BOUND_SUFFIX) return number;
    return -1;
}

void remove_names(const std::filesystem::path& folder, int number) {
    for (const auto& path :
         {event_name(folder, number), description_name(folder, number), bound_name(folder, number)})
        unlink(path.c_str());
}

}  // namespace

PadName::PadName(const std::filesystem::path& folder)
    : folder_(folder), fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    if (!fd_) throw system_error(what, errno);
    number_ = take_number(fd_, folder_);
    inode_ = inode_of(bound_name(folder_, number_));
}

PadName::~PadName() {
    if (inode_of(bound_name(folder_, number_)) == inode_) remove_names(folder_, number_);
}

std::filesystem::path PadName::description() const {
    return description_name(folder_, number_);
}

// A second name, as programs that watch the folder look at what is made, and some not at what is renamed.
void PadName::publish() {
    const auto bound = bound_name(folder_, number_);
    open_to_guest(bound, 0660);
    if (listen(fd_.get(), waiting_connections) != 0 ||
        link(bound.c_str(), event_name(folder_, number_).c_str()) != 0)
        throw system_error(what, errno);
}

FileDescriptor PadName::accept() const {
    return FileDescriptor(accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

void remove_stale_pads(const std::filesystem::path& folder) {
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (const int number = number_of(entry.path().filename()); number >= 0) remove_names(folder, number);
}

void open_to_guest(const std::filesystem::path& file, unsigned mode) {
    if (geteuid() == 0 && lchown(file.c_str(), static_cast<uid_t>(-1), instance_group) != 0)
        throw system_error(what, errno);
    if (chmod(file.c_str(), mode) != 0) throw system_error(what, errno);
}

}  // namespace svc::streamer
