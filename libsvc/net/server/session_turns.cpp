#include "libsvc/net/server/session_turns.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "libsvc/net/server/upgraded.h"

namespace svc::net {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

namespace {

// A turn of a thousand connections takes some milliseconds: meanwhile, and a little longer, messages for the
// next one gather. A single connection does not notice.
constexpr std::chrono::microseconds pause_each{50};
constexpr std::chrono::microseconds longest_pause{25'000};
constexpr std::size_t served_at_once = 64;  // then others of the thread come first

void serve(Turns& turns) {
    for (std::size_t i = 0; i < served_at_once && !turns.served.empty(); ++i) {
        const auto connection = turns.served.back().lock();
        turns.served.pop_back();
        if (connection) connection->pump();
    }
    if (!turns.served.empty()) asio::post(turns.pause.get_executor(), [&turns] { serve(turns); });
}

void begin(Turns& turns) {
    const auto asking = turns.asking.with(
        [](auto& all) { return std::exchange(all, std::vector<std::weak_ptr<Upgraded>>()); });
    turns.next = Steady::now() +
                 std::min<Steady::duration>(static_cast<int>(asking.size()) * pause_each, longest_pause);
    const bool under_way = !turns.served.empty();
    turns.served.insert(turns.served.begin(), asking.rbegin(), asking.rend());
    if (!under_way) serve(turns);
}

void begin_in_time(Turns& turns) {
    if (Steady::now() >= turns.next) return begin(turns);
    turns.pause.expires_at(turns.next);
    turns.pause.async_wait([&turns](const boost::system::error_code& error) {
        if (!error) begin(turns);
    });
}

}  // namespace

// The handlers hold no reference to the loop: they go with its context at the latest.
void ask_for_turn(IoLoop& loop, std::weak_ptr<Upgraded> who) {
    const bool first = loop.turns.asking.with([&](auto& all) {
        all.push_back(std::move(who));
        return all.size() == 1;
    });
    if (first) asio::post(loop.context, [&turns = loop.turns] { begin_in_time(turns); });
}

}  // namespace svc::net
