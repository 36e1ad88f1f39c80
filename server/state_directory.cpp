#include "server/state_directory.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/unfinished_files.h"
#include "server/process/state_folder.h"

namespace svc::server {

namespace {

constexpr std::string_view agent_prefix = "agent-";

std::filesystem::path find_agent_sockets(const std::filesystem::path& root) {
    for (const auto& entry : std::filesystem::directory_iterator(root))
        if (entry.is_directory() && entry.path().filename().native().starts_with(agent_prefix))
            return entry.path();
    return {};
}

// A process that was killed while it made the socket has left it under another name.
void remove_unpublished(const std::filesystem::path& socket) {
    const std::string prefix = socket.filename().native() + ".";
    for (const auto& entry : std::filesystem::directory_iterator(socket.parent_path()))
        if (entry.path().filename().native().starts_with(prefix)) std::filesystem::remove(entry.path());
}

}  // namespace

StateDirectory::StateDirectory(const std::filesystem::path& given) : StatePaths(given) {
    // An instance's root, an ordinary user out here, passes through on its way to its files; it cannot list
    // anything.
    process::make_folder(root(), 0711);
    lock_ = process::lock_state(root(), "svcd");
    if (is_there(recovering()))
        throw Error(ErrorCode::conflict, "svcd recover was interrupted: run svcd recover again");
    for (const auto& folder : {blobs(), logs(), registry(), root() / "server"})
        process::make_folder(folder, 0700);
    for (const auto& folder : {root(), registry(), root() / "server"}) remove_unfinished_files(folder);
    settle_agent_sockets();
}

// A folder of an earlier version, which running instances have mounted, becomes the one with the secret name.
void StateDirectory::settle_agent_sockets() {
    const std::filesystem::path known = agent_socket().parent_path();
    agent_sockets_ = find_agent_sockets(root());
    if (agent_sockets_.empty()) {
        agent_sockets_ = root() / (std::string(agent_prefix) + to_hex(random_bytes(16)));
        if (::rename(known.c_str(), agent_sockets_.c_str()) != 0 && errno != ENOENT)
            throw system_error("cannot rename the folder of the instances' socket", errno);
    }
    process::make_folder(agent_sockets_, 0711);
    process::make_folder(known, 0700);
    remove_unpublished(agent_socket());
}

void StateDirectory::publish_agent_socket() const {
    const std::filesystem::path target = agent_sockets_ / "server.unix";
    const std::filesystem::path temporary = target.native() + ".new";
    std::filesystem::remove(temporary);
    if (::link(agent_socket().c_str(), temporary.c_str()) != 0 ||
        ::rename(temporary.c_str(), target.c_str()) != 0)
        throw system_error("cannot publish the instances' socket", errno);
}

}  // namespace svc::server
