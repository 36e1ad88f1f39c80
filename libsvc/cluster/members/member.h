#pragma once
// One node of a cluster, as the leader knows it.
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/cluster/remote_node.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Thread-safe. Known once, it stays until the leader ends.
class Member {
  public:
    Member(std::string name, Runtime& runtime, LayerStore& layers);  // the leader's own machine
    explicit Member(std::string name) : name_(std::move(name)) {}    // offline until it has a manager

    const std::string& name() const { return name_; }
    bool is_local() const { return local_ != nullptr; }
    bool is_online() const;
    Runtime& runtime() const;    // throws unavailable "node m2 is offline"
    LayerStore& layers() const;  // the same
    RemoteNode& remote() const;  // the same; not of the leader's own machine
    std::string address() const;
    std::string fault() const;  // "node m2 is offline"; "": it is online
    // What it has told last: itself, or machines of a simulation. Empty: nothing yet.
    std::vector<RuntimeNode> nodes() const;
    bool hosts(std::string_view node) const;  // by name; not itself
    void keep(std::vector<RuntimeNode> nodes);

    // What happens to it, told by Members.
    bool lives_at(std::string_view address) const;
    std::shared_ptr<RemoteNode> connection_to(std::string_view address) const;  // null: there is none
    void live(std::string address, std::shared_ptr<RemoteNode> remote);
    void leave();
    void connected();
    std::uint64_t wait();                // a connection may still come; returns the number of this wait
    void give_up(std::uint64_t number);  // none came: offline, unless that wait is over
    void end();                          // ends its connections: the last call

  private:
    enum class Link { up, shaky, down };
    bool online_locked() const { return local_ != nullptr || (living_ && remote_ && link_ != Link::down); }
    Error offline() const { return {ErrorCode::unavailable, "node " + name_ + " is offline"}; }

    const std::string name_;
    Runtime* const local_ = nullptr;
    LayerStore* const local_layers_ = nullptr;
    mutable std::mutex mutex_;  // of all below
    std::string address_;
    std::shared_ptr<RemoteNode> remote_;
    std::vector<std::shared_ptr<RemoteNode>> replaced_;  // calls may still be under way
    bool living_ = false;
    Link link_ = Link::shaky;
    std::uint64_t waits_ = 0;
    std::map<std::string, RuntimeNode, std::less<>> nodes_;
};

using MemberPtr = std::shared_ptr<Member>;

}  // namespace svc
