#include "instance-agent/agent/devices/telephony/call_table.h"

#include <algorithm>
#include <array>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

struct Transition {
    CallState from, to;
    bool is_for_guests;  // else for the control API alone
};

constexpr std::array<Transition, 6> transitions{{{CallState::ringing, CallState::active, true},
                                                 {CallState::dialing, CallState::alerting, false},
                                                 {CallState::dialing, CallState::active, false},
                                                 {CallState::alerting, CallState::active, false},
                                                 {CallState::active, CallState::held, true},
                                                 {CallState::held, CallState::active, true}}};

bool may_become(CallState from, CallState to, Side side) {
    return std::any_of(transitions.begin(), transitions.end(), [&](const Transition& one) {
        return one.from == from && one.to == to && (one.is_for_guests || side == Side::remote);
    });
}

std::string_view to_text(EndReason reason) {
    constexpr std::array<std::string_view, 4> names{"guest", "remote", "no_service", "no_guest"};
    return names.at(static_cast<std::size_t>(reason));
}

[[noreturn]] void refuse_call(const std::string& text) {
    throw Error(ErrorCode::invalid_argument, text);
}

[[noreturn]] void refuse_change(const PhoneCall& call, CallState wanted) {
    refuse_call("Call " + std::to_string(call.id) + " is " + std::string(to_text(call.state)) +
                " and cannot become " + std::string(to_text(wanted)));
}

auto has_id(std::int64_t id) {
    return [id](const PhoneCall& call) { return call.id == id; };
}

}  // namespace

std::string_view to_text(Direction direction) {
    return direction == Direction::incoming ? "incoming" : "outgoing";
}

std::string_view to_text(CallState state) {
    constexpr std::array<std::string_view, 6> names{"ringing", "dialing", "alerting",
                                                    "active",  "held",    "ended"};
    return names.at(static_cast<std::size_t>(state));
}

Json PhoneCall::members() const {
    Json members = Json::object(
        {{"direction", to_text(direction)}, {"number", number}, {"state", to_text(state)}, {"time", time}});
    if (state == CallState::ended) members.set("end_reason", to_text(end_reason));
    return members;
}

PhoneCall CallTable::begin(Direction direction, const std::string& number, std::int64_t time) {
    if (present_.size() == most_at_once) refuse_call("Too many calls at once");
    const CallState state = direction == Direction::incoming ? CallState::ringing : CallState::dialing;
    present_.push_back({++last_id_, direction, number, state, time, {}});
    return present_.back();
}

std::vector<PhoneCall> CallTable::change(std::int64_t id, CallState wanted, Side side) {
    PhoneCall& call = present_call(id, wanted);
    if (!may_become(call.state, wanted, side)) refuse_change(call, wanted);
    std::vector<PhoneCall> changed;
    for (PhoneCall& other : present_) {
        if (wanted != CallState::active || other.state != CallState::active) continue;
        other.state = CallState::held;
        changed.push_back(other);
    }
    call.state = wanted;
    changed.push_back(call);
    return changed;
}

PhoneCall CallTable::end(std::int64_t id, EndReason reason) {
    PhoneCall ended = present_call(id, CallState::ended);
    ended.state = CallState::ended;
    ended.end_reason = reason;
    present_.erase(std::find_if(present_.begin(), present_.end(), has_id(id)));
    ended_.push_back(ended);
    if (ended_.size() > most_ended) ended_.pop_front();
    return ended;
}

std::vector<PhoneCall> CallTable::end_all(EndReason reason) {
    std::vector<PhoneCall> ended;
    while (!present_.empty()) ended.push_back(end(present_.front().id, reason));
    return ended;
}

PhoneCall CallTable::find(std::int64_t id) const {
    const auto present = std::find_if(present_.begin(), present_.end(), has_id(id));
    if (present != present_.end()) return *present;
    const auto ended = std::find_if(ended_.begin(), ended_.end(), has_id(id));
    if (ended == ended_.end()) refuse_call("Call " + std::to_string(id) + " does not exist");
    return *ended;
}

PhoneCall& CallTable::present_call(std::int64_t id, CallState wanted) {
    const auto found = std::find_if(present_.begin(), present_.end(), has_id(id));
    if (found == present_.end()) refuse_change(find(id), wanted);
    return *found;
}

}  // namespace svc::agent
