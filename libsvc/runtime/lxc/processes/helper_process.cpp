#include "libsvc/runtime/lxc/processes/helper_process.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "libsvc/base/error.h"
#include "libsvc/runtime/lxc/processes/processes.h"

namespace svc::lxc {

namespace {

using std::chrono::milliseconds;

std::vector<FileDescriptor> take_descriptors(const msghdr& header) {
    std::vector<FileDescriptor> taken;
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
         part = CMSG_NXTHDR(const_cast<msghdr*>(&header), part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            taken.emplace_back(fd);
        }
    }
    return taken;
}

}  // namespace

HelperProcess::HelperProcess(const std::filesystem::path& program, std::vector<std::string> arguments,
                             std::vector<std::pair<int, int>> descriptors) {
    int pair[2];
    if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, static_cast<int*>(pair)) != 0)
        throw system_error("cannot make a control socket", errno);
    socket_ = FileDescriptor(pair[0]);
    const FileDescriptor theirs(pair[1]);
    SpawnOptions options;
    options.arguments = std::move(arguments);
    options.arguments.insert(options.arguments.begin(), program.native());
    // With a PATH without newuidmap, liblxc writes the id maps itself, as root may: this is faster and needs
    // no entry in /etc/subuid.
    options.environment = {"PATH=/usr/sbin:/sbin"};
    options.descriptors = std::move(descriptors);
    options.descriptors.emplace_back(theirs.get(), control_fd);
    child_.emplace(options);
}

std::optional<HelperReply> HelperProcess::receive(milliseconds limit) {
    // A monitor may hold the socket open as well. What is sent is there before the helper ends.
    if (!poll_until({socket_.get(), child_->pidfd()}, deadline_after(limit))) return std::nullopt;
    if (!poll_until(socket_.get(), deadline_after(milliseconds(0)))) return std::nullopt;
    HelperReply reply;
    iovec part{&reply.message, sizeof reply.message};
    alignas(cmsghdr) char space[CMSG_SPACE(2 * sizeof(int))];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = static_cast<void*>(space);
    header.msg_controllen = sizeof space;
    const ssize_t got = ::recvmsg(socket_.get(), &header, MSG_CMSG_CLOEXEC);
    if (got > 0) reply.descriptors = take_descriptors(header);
    if (got != static_cast<ssize_t>(sizeof reply.message)) return std::nullopt;
    reply.message.text[sizeof reply.message.text - 1] = '\0';
    return reply;
}

}  // namespace svc::lxc
