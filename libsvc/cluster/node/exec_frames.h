#pragma once
// What a leader and a node tell each other while a command runs, over a WebSocket of its own. Binary
// messages: a byte that names the stream, then data; without data the stream has ended. Text messages are
// JSON:
//   to the node:    the ExecSpec first; {"signal": 9}; {"width": 80, "height": 24}; {"taken": bytes}
//   to the leader:  {"started": true} or the error; {"taken": bytes}; {"exit_code": 0, "exec_failed": false}
//   at the end
// Neither side sends more than exec_window bytes that the other has not taken, so both always read, and a
// slow reader of one stream holds up no order.
#include <cstddef>
#include <string>
#include <string_view>

namespace svc::node {

enum class ExecStreamId : char { input = 0, output = 1, errors = 2 };

inline constexpr std::size_t exec_window = std::size_t{1} << 20;
inline constexpr std::size_t exec_block = std::size_t{64} << 10;
inline constexpr int exec_cut_code =
    129;  // as for a container that stopped: nobody knows how the command ended

inline std::string exec_frame(ExecStreamId stream, std::string_view data) {
    return std::string(1, static_cast<char>(stream)).append(data);
}

}  // namespace svc::node
