#pragma once
// Sees every change of a session that is committed, and writes down what must not be.
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libsvc/model/streaming/stream_session.h"
#include "libsvc/store/store.h"

namespace svc::test {

// Thread-safe.
class SessionWatcher {
  public:
    explicit SessionWatcher(Store& store)
        : watch_(store.watch("stream-sessions/", [this](const std::vector<WatchEvent>& events) {
              for (const WatchEvent& event : events) look_at(event);
          })) {}

    void complain(std::string what) {
        const std::lock_guard lock(mutex_);
        faults_.push_back(std::move(what));
    }
    std::vector<std::string> faults() const {
        const std::lock_guard lock(mutex_);
        return faults_;
    }
    // "created active" and so on: what happened at all.
    std::set<std::string> moves() const {
        const std::lock_guard lock(mutex_);
        return moves_;
    }

  private:
    // What clients may see of a session: the table of its states, spelt out once more. An error that ends
    // goes through "terminating" within one commit.
    static bool is_move(const std::string& move) {
        static const std::set<std::string> known{
            "new created",       "created active",     "created error",          "created terminating",
            "active error",      "active terminating", "active terminated",      "error active",
            "error terminating", "error terminated",   "terminating terminated", "terminating error"};
        return known.contains(move);
    }
    void look_at(const WatchEvent& event) {
        const std::lock_guard lock(mutex_);
        if (!event.value) return (void)last_.erase(event.key);
        const StreamSession now = session_from_store(Json::parse(*event.value));
        const auto before = last_.find(event.key);
        const bool is_new = before == last_.end();
        if (is_new || before->second.status != now.status)
            look_at_move((is_new ? "new" : std::string(to_text(before->second.status))) + " " +
                             std::string(to_text(now.status)),
                         now);
        else if (before->second.status_message != now.status_message)
            faults_.push_back(now.id + ": '" + before->second.status_message + "' became '" +
                              now.status_message + "'");
        if (!is_new && !before->second.container_id.empty() && !now.container_id.empty() &&
            before->second.container_id != now.container_id)
            faults_.push_back(now.id + ": " + before->second.container_id + " became " + now.container_id);
        last_.insert_or_assign(event.key, now);
    }
    void look_at_move(const std::string& move, const StreamSession& now) {
        moves_.insert(move);
        if (!is_move(move)) faults_.push_back(now.id + ": " + move);
        const bool wants_reason = now.status != SessionStatus::created && now.status != SessionStatus::active;
        if (now.status_message.empty() == wants_reason)
            faults_.push_back(now.id + ": " + move + " with '" + now.status_message + "'");
    }

    mutable std::mutex mutex_;
    std::map<std::string, StreamSession> last_;
    std::vector<std::string> faults_;
    std::set<std::string> moves_;
    std::unique_ptr<Subscription> watch_;  // last: tells when all else is there
};

}  // namespace svc::test
