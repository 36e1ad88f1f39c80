#pragma once
// What is asked of all sessions again and again, counted as they change: no request looks at each of them.
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
    // A session came (no `before`), changed, or went (no `after`).
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
