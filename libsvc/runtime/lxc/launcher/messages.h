#pragma once
// What processes of the launcher tell each other over a socket of type SOCK_SEQPACKET.
#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "libsvc/runtime/lxc/launcher/guest_root.h"

namespace svc::lxc {

// Both ends are closed when a program is executed. The first receives credentials.
std::pair<Descriptor, Descriptor> make_socket_pair();

// Nothing where the other end has gone: what it said last can be received. Throws LaunchFailure.
void send_byte(int socket, char byte);
void send_terminals(int socket, const std::vector<Terminal>& terminals);  // throws LaunchFailure
void send_text(int socket, const char* text);
bool send_credentials(int socket);  // of this process

struct Received {
    enum class Kind { end, terminals, process, text } kind = Kind::end;
    std::vector<Descriptor> descriptors;
    pid_t process = 0;  // as this process sees it
    std::string text;
};
Received receive(int socket);

}  // namespace svc::lxc
