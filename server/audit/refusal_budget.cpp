#include "server/audit/refusal_budget.h"

#include <chrono>
#include <utility>

namespace svc::server {

void RefusalBudget::begin_minute(SteadyTime now) {
    if (now < minute_end_) return;
    minute_end_ = now + std::chrono::minutes(1);
    taken_.clear();
    taken_of_all_ = 0;
    too_many_before_ += std::exchange(too_many_, 0);
}

bool RefusalBudget::take(const std::string& source, SteadyTime now) {
    begin_minute(now);
    if (taken_of_all_ < of_all_ && taken_[source] < of_each_) {
        ++taken_[source];
        ++taken_of_all_;
        return true;
    }
    ++too_many_;
    return false;
}

std::uint64_t RefusalBudget::left_out(SteadyTime now) {
    begin_minute(now);
    return std::exchange(too_many_before_, 0);
}

}  // namespace svc::server
