#pragma once
// Who may work on what: a queue per claim, whose first holds it.
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace svc {

// Thread-safe. Claimants are named by their operation's id. One that is first in all of its queues may work;
// since all queues are joined in one step, two can never wait for each other.
class Claims {
  public:
    enum class IfHeld { refuse, queue };

    // Joins the queue of each claim and returns who is ahead. `refuse` throws busy "<work> already in
    // progress" instead, with what the present holder gave as `work`.
    std::vector<std::string> enter(const std::string& id, const std::string& work,
                                   std::vector<std::string> claims, IfHeld if_held);
    // The claimant is ready to work. True: it may start now; false: a later leave() will name it.
    bool ready(const std::string& id);
    // Gives all claims of `id` back (none is fine). Returns who may start now, each of them once.
    std::vector<std::string> leave(const std::string& id);
    std::vector<std::string> behind(const std::string& id) const;  // who waits for what `id` has
    bool held(std::string_view claim) const;

  private:
    struct Claimant {
        std::string work;
        std::vector<std::string> claims;
        bool ready = false;
        bool started = false;
    };
    bool may_start(const std::string& id, const Claimant& claimant) const;
    void refuse_held(const std::vector<std::string>& claims) const;

    mutable std::mutex mutex_;
    std::map<std::string, Claimant, std::less<>> claimants_;
    std::map<std::string, std::deque<std::string>, std::less<>> queues_;
};

}  // namespace svc
