#pragma once
// Claims of operations: names of what their work changes ("instances/<id>"). Each claim has a queue of
// operations, and the first operation of the queue holds the claim.
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

// Thread-safe. `id` is an operation's id. An operation that is first in all of its queues may start; since it
// joins all queues in one step, two operations never wait for each other.
class Claims {
  public:
    enum class IfHeld { refuse, queue };

    // Joins the queue of each claim and returns the operations ahead. With `refuse` it throws busy "<work>
    // already in progress" when a claim is held, with the `work` of its holder. One whose holder is ending
    // counts as free: the operation starts when it has left.
    std::vector<std::string> enter(const std::string& id, const std::string& work,
                                   std::vector<std::string> claims, IfHeld if_held);
    // The operation is ready to start. True: it may start now; false: a later leave() returns it.
    bool ready(const std::string& id);
    // All that the work of `id` changes is stored; leave() follows when that is told.
    void end(const std::string& id);
    // Gives all claims of `id` back (none is fine). Returns the operations that may start now, each once.
    std::vector<std::string> leave(const std::string& id);
    std::vector<std::string> behind(const std::string& id) const;  // those that wait for claims of `id`
    bool held(std::string_view claim) const;

  private:
    struct Claimant {
        std::string work;
        std::vector<std::string> claims;
        bool ready = false;
        bool started = false;
        bool ending = false;
    };
    bool may_start(const std::string& id, const Claimant& claimant) const;
    void refuse_held(const std::vector<std::string>& claims) const;

    mutable std::mutex mutex_;
    std::map<std::string, Claimant, std::less<>> claimants_;
    std::map<std::string, std::deque<std::string>, std::less<>> queues_;
};

}  // namespace svc
