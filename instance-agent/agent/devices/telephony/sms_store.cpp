#include "instance-agent/agent/devices/telephony/sms_store.h"

#include <algorithm>

#include "libsvc/base/error.h"

namespace svc::agent {
namespace {

std::string_view to_text(SmsState state) {
    constexpr std::array<std::string_view, 3> names{"waiting", "delivered", "sent"};
    return names.at(static_cast<std::size_t>(state));
}

bool waits(const Sms& sms) {
    return sms.state == SmsState::waiting;
}

}  // namespace

Json Sms::to_json() const {
    return Json::object({{"id", id},
                         {"direction", to_text(direction)},
                         {"number", number},
                         {"message", message},
                         {"parts", parts},
                         {"state", to_text(state)},
                         {"time", time}});
}

SmsStore::Added SmsStore::add(Sms sms) {
    sms.id = ++last_id_;
    sms.state = sms.direction == Direction::incoming ? SmsState::waiting : SmsState::sent;
    messages_.push_back(sms);
    const bool dropped = drop_oldest(sms.direction);
    return {std::move(sms), dropped};
}

bool SmsStore::drop_oldest(Direction direction) {
    const auto is_of = [&](const Sms& sms) { return sms.direction == direction; };
    const auto count = std::count_if(messages_.begin(), messages_.end(), is_of);
    if (static_cast<std::size_t>(count) <= most_kept) return false;
    messages_.erase(std::find_if(messages_.begin(), messages_.end(), is_of));
    ++dropped_;
    return true;
}

void SmsStore::deliver(std::int64_t id) {
    const auto found =
        std::find_if(messages_.begin(), messages_.end(), [&](const Sms& sms) { return sms.id == id; });
    if (found == messages_.end() || !waits(*found))
        throw Error(ErrorCode::invalid_argument, "SMS " + std::to_string(id) + " does not wait");
    found->state = SmsState::delivered;
}

void SmsStore::clear() {
    messages_.clear();
    dropped_ = 0;
}

std::deque<Sms> SmsStore::waiting() const {
    std::deque<Sms> waiting;
    std::copy_if(messages_.begin(), messages_.end(), std::back_inserter(waiting), waits);
    return waiting;
}

}  // namespace svc::agent
