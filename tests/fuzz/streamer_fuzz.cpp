// What a client, its gateway and the guest say to the streamer, line by line: the first letter of a line says
// who says what, the rest is the text. "\n" within a text stands for the end of a line: session descriptions
// have many. Whatever comes, one peer is alive at the most, the display gets nothing out of range, and
// nothing but an Error is thrown.
#include <cstdint>
#include <string>

#include "instance-agent/streamer/start_data.h"
#include "libsvc/base/log.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/script.h"
#include "tests/fuzz/streamer_world.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::streamer_target {

namespace {

using namespace svc;
using namespace svc::fuzz;

std::string with_lines(std::string_view text) {
    std::string lines;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const bool escaped = text.substr(i, 2) == "\\n";
        lines += escaped ? '\n' : text[i];
        i += escaped ? 1 : 0;
    }
    return lines;
}

void start_with(const std::string& user_data) {
    const auto start = streamer::read_user_data("webrtc", user_data);
    if (!start) return;
    require(start->width >= 1 && start->width <= 16384 && start->height >= 1 && start->height <= 16384);
    require(start->fps >= 1 && start->fps <= 120 && start->density >= 72);
    require(start->gateway.path.starts_with("/"));
}

void step(StreamerWorld& world, char who, const std::string& text) {
    switch (who) {
        case 'g':
            return world.from_gateway(text);
        case 'c':
            return world.from_client(text);
        case 'J':
            return world.join();
        case 'a':
            return world.answer(with_lines(text));
        case 'o':
            return world.peer_offers(with_lines(text));
        case 'p':
            return world.peer_candidate(text);
        case 'k':
            return world.peer_connects(true);
        case 'f':
            return world.peer_connects(false);
        case 'h':
            return world.channel(true, text);
        case 'l':
            return world.channel(false, text);
        case 'm':
            return world.client_sends(false, text);
        case 'b':
            return world.client_sends(true, text);
        case 'd':
            return world.control(text);
        case 'e':
            return world.guest_event(text);
        case 'A':
            return world.guest_attached(text);
        case 'u':
            return start_with(text);
        case 't':
            return world.pass_time();
        default:
            return;
    }
}

}  // namespace

FUZZ_TARGET(streamer)(const std::uint8_t* data, std::size_t size) {
    StreamerWorld world;
    for_each_step(data, size,
                  [&](char kind, const std::string& text) { attempt([&] { step(world, kind, text); }); });
    return 0;
}

}  // namespace svc::fuzz::streamer_target
