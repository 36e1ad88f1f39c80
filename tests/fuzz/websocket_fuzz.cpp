// Frames of WebSockets, as servers and clients read them, in pieces. The first byte chooses the side and the
// size of the pieces. No message is larger than it may be, and what is answered is not more than what came.
#include <cstdlib>
#include <string>

#include "libsvc/base/error.h"
#include "libsvc/net/websocket/websocket_frames.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::websocket_target {

namespace {

constexpr std::size_t max_message = 4096;

// A reader of the other side understands what is answered.
void check_answers(const std::string& answers, bool from_client) {
    net::FrameReader peer(!from_client, max_message, [](bool, const std::string&) { std::abort(); });
    peer.feed(answers);
    if (peer.closed() && !peer.closed()->by_peer) std::abort();
}

}  // namespace

FUZZ_TARGET(websocket)(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    const std::string_view stream(reinterpret_cast<const char*>(data) + 1, size - 1);
    const bool client = (data[0] & 1) != 0;
    const std::size_t piece = data[0] / 2 + 1U;
    net::FrameReader reader(client, max_message, [](bool, const std::string& message) {
        if (message.size() > max_message) std::abort();
    });
    std::string answers;
    for (std::size_t at = 0; at < stream.size() && !reader.closed(); at += piece) {
        reader.feed(stream.substr(at, piece));
        answers += reader.take_answers();
    }
    if (answers.size() > 3 * stream.size() + 256) std::abort();
    check_answers(answers, client);
    return 0;
}

}  // namespace svc::fuzz::websocket_target
