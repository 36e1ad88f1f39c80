#pragma once
// The nodes of a cluster: they appear with their managers, are online or offline, tell events.
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/thread_pool.h"
#include "libsvc/base/timer.h"
#include "libsvc/cluster/members/led_machine.h"
#include "libsvc/cluster/members/member.h"
#include "libsvc/cluster/peer.h"
#include "libsvc/cluster/runtime_events.h"
#include "libsvc/store/membership.h"

namespace svc {

struct ClusterRuntimeParts {
    Membership& membership;
    Runtime& local;  // of this machine, whose node is membership.self()
    LayerStore& local_layers;
    RuntimeEvents& local_events;
    PeerIdentity identity;
    Clock& clock;
    std::uint64_t term = 0;  // of this leader; 0: lead() tells it later
    // Where containers are by the records, id to node: what a new leader knows of nodes that are offline when
    // it begins.
    std::map<std::string, std::string, std::less<>> placed = {};
    std::vector<std::string> known_nodes = {};  // by the records
    node::LinkTimes times = {};
    // A call of another node has ended; any thread, must be quick.
    std::function<void(const std::string& node, bool answered)> on_call = {};
    // Before each call that may change something on another node; throws where this manager may not lead any
    // more. Any thread.
    std::function<void()> may_begin = {};
    // The same of this machine, in the term of this leader. The call runs while the returned value exists.
    std::function<std::shared_ptr<void>(std::uint64_t term)> enter = {};
    // A node follows the leader of a newer term: this one is of no use any more. Any thread.
    std::function<void(const std::string& node, std::uint64_t term)> on_outdated = {};
    Duration patience = std::chrono::seconds(10);   // a node without a connection is offline after that
    Duration look_again = std::chrono::seconds(5);  // how a node is, whose manager lives
};

// Thread-safe. Nothing here waits for a node, but the destructor for connections that are being made.
class Members {
  public:
    explicit Members(ClusterRuntimeParts& parts);
    ~Members();
    Members(const Members&) = delete;
    Members& operator=(const Members&) = delete;

    std::vector<MemberPtr> all() const;          // by name
    std::vector<MemberPtr> online() const;       // the leader's own first
    MemberPtr get(std::string_view name) const;  // "": the leader's own; throws unavailable
    MemberPtr local() const { return local_; }
    // From now on other nodes are asked, in that term. Once; until then there is this machine alone.
    void lead(std::uint64_t term);
    void on_changed(std::function<void()> listener);
    void on_event(std::function<void(const RuntimeEvent&)> listener);
    void tell_changed();  // the listener, soon

  private:
    struct Listeners;
    std::shared_ptr<void> enter_local() const;
    void follow();
    void bring(const Manager& manager);
    std::shared_ptr<RemoteNode> connect(const MemberPtr& member, const Manager& manager);
    void greet(const MemberPtr& member);
    void expect(const MemberPtr& member);  // to be connected within `patience`
    MemberPtr known(const std::string& name);

    ClusterRuntimeParts& parts_;
    std::atomic<std::uint64_t> term_{0};  // 0: this manager does not lead
    LedRuntime local_runtime_;
    LedLayers local_layers_;
    const MemberPtr local_;
    const std::shared_ptr<Listeners> listeners_;
    mutable std::mutex mutex_;
    std::map<std::string, MemberPtr, std::less<>> members_;
    ThreadPool worker_{"cluster-nodes", 1, 1'000'000};
    Timer timer_;
    std::shared_ptr<void> membership_, events_;
};

}  // namespace svc
