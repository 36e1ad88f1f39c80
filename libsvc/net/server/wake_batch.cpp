#include "libsvc/net/server/wake_batch.h"

#include <algorithm>
#include <boost/asio/post.hpp>

#include "libsvc/net/server/upgraded_connection.h"

namespace svc::net {

namespace asio = boost::asio;
using Steady = std::chrono::steady_clock;

namespace {

// A batch of a thousand connections takes some milliseconds. Meanwhile, and a little longer, the messages for
// the next batch gather. A single connection does not notice the pause.
constexpr std::chrono::microseconds pause_each{50};
constexpr std::chrono::microseconds longest_pause{25'000};
constexpr std::size_t pumped_at_once = 64;  // then the other work of the thread comes first

void pump_some(WakeBatches& wakes) {
    for (std::size_t i = 0; i < pumped_at_once && !wakes.current.empty(); ++i) {
        const auto connection = wakes.current.back().lock();
        wakes.current.pop_back();
        if (connection) connection->pump();
    }
    if (!wakes.current.empty()) asio::post(wakes.pause.get_executor(), [&wakes] { pump_some(wakes); });
}

void begin_batch(WakeBatches& wakes) {
    const auto waiting = wakes.waiting.with(
        [](auto& all) { return std::exchange(all, std::vector<std::weak_ptr<UpgradedConnection>>()); });
    wakes.next = Steady::now() +
                 std::min<Steady::duration>(static_cast<int>(waiting.size()) * pause_each, longest_pause);
    const bool under_way = !wakes.current.empty();
    wakes.current.insert(wakes.current.begin(), waiting.rbegin(), waiting.rend());
    if (!under_way) pump_some(wakes);
}

void begin_batch_in_time(WakeBatches& wakes) {
    if (Steady::now() >= wakes.next) return begin_batch(wakes);
    wakes.pause.expires_at(wakes.next);
    wakes.pause.async_wait([&wakes](const boost::system::error_code& error) {
        if (!error) begin_batch(wakes);
    });
}

}  // namespace

// The posted functions refer to the loop without owning it: its context destroys them before it goes.
void wake_in_batch(IoLoop& loop, std::weak_ptr<UpgradedConnection> connection) {
    const bool first = loop.wakes.waiting.with([&](auto& all) {
        all.push_back(std::move(connection));
        return all.size() == 1;
    });
    if (first) asio::post(loop.context, [&wakes = loop.wakes] { begin_batch_in_time(wakes); });
}

}  // namespace svc::net
