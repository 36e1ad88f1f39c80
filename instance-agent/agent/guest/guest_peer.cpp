#include "instance-agent/agent/guest/guest_peer.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <optional>
#include <vector>

#include "instance-agent/agent/files/socket_folder.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::agent {
namespace {

constexpr std::string_view control_group = "vehicle";
constexpr std::size_t most_group_bytes = 1U << 20;

// Parses /etc/group itself: getgrouplist() of the C library needs shared libraries, which a static program
// cannot load.
std::optional<gid_t> find_group(const std::filesystem::path& groups) try {
    for (const std::string& line : split(read_file(groups, most_group_bytes), '\n')) {
        const auto fields = split(line, ':');
        if (fields.size() < 3 || fields[0] != control_group) continue;
        gid_t gid = 0;
        const auto end = fields[2].data() + fields[2].size();
        if (std::from_chars(fields[2].data(), end, gid).ptr == end) return gid;
    }
    return std::nullopt;
} catch (const Error&) {
    return std::nullopt;  // a guest may lack the file
}

std::vector<gid_t> read_groups(int socket) {
    socklen_t size = 0;
    getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, nullptr, &size);
    std::vector<gid_t> groups(size / sizeof(gid_t));
    if (groups.empty() || getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, groups.data(), &size) != 0) return {};
    return groups;
}

bool is_of_group(int socket, gid_t primary, const std::filesystem::path& groups_file) {
    const auto wanted = find_group(groups_file);
    if (!wanted) return false;
    const auto groups = read_groups(socket);
    return primary == *wanted || std::find(groups.begin(), groups.end(), *wanted) != groups.end();
}

}  // namespace

GuestPeer read_peer(int socket, const std::filesystem::path& groups) {
    ucred credentials{};
    socklen_t size = sizeof(credentials);
    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
        throw system_error("cannot tell who connects", errno);
    const bool is_user =
        credentials.uid == 0 || credentials.uid == instance_user || credentials.uid == geteuid();
    return GuestPeer{credentials.uid, credentials.pid,
                     is_user || is_of_group(socket, credentials.gid, groups)};
}

}  // namespace svc::agent
