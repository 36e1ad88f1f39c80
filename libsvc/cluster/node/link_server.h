#pragma once
// The node's side of a link: one WebSocket over which a leader makes its calls and hears of events.
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/base/thread_pool.h"
#include "libsvc/cluster/node/calls.h"
#include "libsvc/cluster/runtime_events.h"
#include "libsvc/cluster/term_guard.h"
#include "libsvc/net/websocket/websocket.h"

namespace svc::node {

class Link;

struct LinkParts {
    const Calls& calls;
    TermGuard& guard;
    RuntimeEvents& events;
    ThreadPool& changes;  // runs calls that change something, each until its end
    ThreadPool& reads;    // so that nobody who looks waits for them
};

// All links of a node. Thread-safe. What `parts` refers to must outlive it; pools must have stopped before
// this ends.
class LinkServer {
  public:
    explicit LinkServer(LinkParts parts);
    LinkServer(const LinkServer&) = delete;
    LinkServer& operator=(const LinkServer&) = delete;

    std::shared_ptr<WebSocketHandler> open(std::uint64_t term);
    void end_all();  // ends links and cancels their calls
    void end_below(std::uint64_t term);

  private:
    LinkParts parts_;
    Guarded<std::vector<std::weak_ptr<Link>>> links_;
    std::shared_ptr<void> raised_;  // last: its calls use the rest
};

}  // namespace svc::node
