#pragma once
// The calls of the instance's phone and their states (docs/telephony.md, Calls). Plain values: no threads.
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "libsvc/base/json.h"

namespace svc::agent {

enum class Direction { incoming, outgoing };  // as the guest sees it
enum class CallState { ringing, dialing, alerting, active, held, ended };
enum class Side { guest, remote };  // `remote`: the control API
enum class EndReason { guest, remote, no_service, no_guest };

std::string_view to_text(Direction direction);
std::string_view to_text(CallState state);

struct PhoneCall {
    std::int64_t id = 0;
    Direction direction = Direction::incoming;
    std::string number{};
    CallState state = CallState::ringing;
    std::int64_t time = 0;                    // milliseconds since 1970, of the beginning
    EndReason end_reason = EndReason::guest;  // of a call that has ended

    // All members but the id, which the two interfaces name differently.
    Json members() const;
};

// All functions that change something return the calls as they are then, in the order of the changes. All
// throw invalid_argument for a call that does not exist, or that cannot become what is wanted.
class CallTable {
  public:
    static constexpr std::size_t most_at_once = 8;
    static constexpr std::size_t most_ended = 32;  // the last ones are kept

    PhoneCall begin(Direction direction, const std::string& number, std::int64_t time);
    // `wanted`: alerting, active or held. When a call becomes active, the one that was is held before.
    std::vector<PhoneCall> change(std::int64_t id, CallState wanted, Side side);
    PhoneCall end(std::int64_t id, EndReason reason);
    std::vector<PhoneCall> end_all(EndReason reason);

    PhoneCall find(std::int64_t id) const;
    const std::vector<PhoneCall>& present() const {
        return present_;
    }  // those that have not ended, the oldest first
    const std::deque<PhoneCall>& ended() const { return ended_; }  // in the order in which they have ended

  private:
    PhoneCall& present_call(std::int64_t id, CallState wanted);

    std::vector<PhoneCall> present_;
    std::deque<PhoneCall> ended_;
    std::int64_t last_id_ = 0;
};

}  // namespace svc::agent
