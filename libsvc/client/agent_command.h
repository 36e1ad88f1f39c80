#pragma once
// Internal to this folder: commands of the program svc-agent in an instance, for what the API has no call
// for.
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/client/api_client.h"
#include "libsvc/client/remote_exec.h"

namespace svc {

struct AgentCommand {
    std::vector<std::string> words;                  // behind the program's name
    std::function<void(RemoteExec& session)> input;  // in a thread of its own: sends, then ends the input
    std::function<void(std::string_view)> output;    // what it throws ends the command and is thrown on
    // Wakes `input` and `output` where they wait; called from any thread, perhaps twice; may be empty.
    std::function<void()> ended = {};
    std::stop_token stop = {};  // breaks the command off, without an error
};

// Blocks until the command has ended. Throws what the service answers; unavailable where the connection was
// lost or there is no such program; else what svc-agent says last: not_found, invalid_argument or internal,
// by its exit status.
void run_agent(ApiClient& client, std::string_view instance, const AgentCommand& command);

// All of it, to a socket. False: its other end is gone. No signal comes of that.
bool send_to_socket(int socket, std::string_view data);

}  // namespace svc
