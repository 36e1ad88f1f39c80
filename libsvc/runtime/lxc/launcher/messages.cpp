#include "libsvc/runtime/lxc/launcher/messages.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace svc::lxc {

namespace {

constexpr std::size_t most_descriptors = 32;
constexpr char terminals_mark = 't', process_mark = 'p', text_mark = 'x';

void take_descriptors(const cmsghdr& part, std::vector<Descriptor>& taken) {
    const std::size_t count = (part.cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
        int fd = -1;
        std::memcpy(&fd, CMSG_DATA(&part) + i * sizeof fd, sizeof fd);
        taken.emplace_back(fd);
    }
}

void take_control(msghdr& header, Received& received) {
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET) continue;
        if (part->cmsg_type == SCM_RIGHTS) take_descriptors(*part, received.descriptors);
        if (part->cmsg_type != SCM_CREDENTIALS) continue;
        ucred sender{};
        std::memcpy(&sender, CMSG_DATA(part), sizeof sender);
        received.process = sender.pid;
    }
}

Received::Kind kind_of(char mark) {
    if (mark == terminals_mark) return Received::Kind::terminals;
    return mark == process_mark ? Received::Kind::process : Received::Kind::text;
}

}  // namespace

std::pair<Descriptor, Descriptor> make_socket_pair() {
    int pair[2];
    check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), "cannot make a pair of sockets");
    std::pair<Descriptor, Descriptor> ends{Descriptor(pair[0]), Descriptor(pair[1])};
    const int on = 1;
    check(::setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on), "cannot receive credentials");
    return ends;
}

void send_byte(int socket, char byte) {
    if (::send(socket, &byte, 1, MSG_NOSIGNAL) < 0 && errno != EPIPE) fail("cannot send");
}

void send_terminals(int socket, const std::vector<Terminal>& terminals) {
    std::vector<int> fds;
    for (const Terminal& terminal : terminals) {
        fds.push_back(terminal.master.get());
        fds.push_back(terminal.slave.get());
    }
    if (fds.size() > most_descriptors) throw LaunchFailure("too many terminals");
    char mark = terminals_mark;
    iovec part{&mark, 1};
    alignas(cmsghdr) char space[CMSG_SPACE(most_descriptors * sizeof(int))] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = CMSG_SPACE(fds.size() * sizeof(int));
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
    std::memcpy(CMSG_DATA(rights), fds.data(), fds.size() * sizeof(int));
    check(::sendmsg(socket, &header, MSG_NOSIGNAL), "cannot hand terminals to the monitor");
}

void send_text(int socket, const char* text) {
    const std::string message = text_mark + std::string(text);
    if (::send(socket, message.data(), message.size(), MSG_NOSIGNAL) < 0) return;  // the other end has gone
}

bool send_credentials(int socket) {
    return ::send(socket, &process_mark, 1, MSG_NOSIGNAL) == 1;  // the kernel adds them
}

Received receive(int socket) {
    std::array<char, 1024> text{};
    iovec part{text.data(), text.size()};
    alignas(cmsghdr) char space[CMSG_SPACE(most_descriptors * sizeof(int)) + CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = space;
    header.msg_controllen = sizeof space;
    ssize_t got = 0;
    while ((got = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) continue;
    check(got, "cannot receive");
    Received received;
    if (got == 0) return received;
    take_control(header, received);
    received.kind = kind_of(text[0]);
    received.text.assign(text.data() + 1, static_cast<std::size_t>(got) - 1);
    return received;
}

}  // namespace svc::lxc
