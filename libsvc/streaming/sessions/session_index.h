#pragma once
// Counts of sessions and their ids by instance, kept up to date with each change, so that no request iterates
// over all sessions.
#include <cstddef>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "libsvc/base/guarded.h"
#include "libsvc/model/streaming/stream_session.h"

namespace svc {

// Thread-safe. Takes no lock but its own.
class SessionIndex {
  public:
    // A session was added (`before` is null), changed, or removed (`after` is null).
    void note(const StreamSession* before, const StreamSession* after);

    std::size_t open_in(const std::string& region) const;  // that are not terminated
    std::map<SessionStatus, std::size_t> counts() const;   // without those that were forgotten
    std::vector<std::string> sessions_of(
        const std::string& region,  // ids; more than one for a moment at most
        const std::string& instance) const;

  private:
    struct State {
        std::map<std::string, std::size_t> open;  // by region; none that is 0
        std::map<SessionStatus, std::size_t> by_status;
        std::unordered_multimap<std::string, std::string> by_instance;
    };
    static void add(State& state, const StreamSession& session);
    static void take_away(State& state, const StreamSession& session);

    Guarded<State> state_;
};

}  // namespace svc
