#include "libsvc/services/instances/reports/report_memory.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/log.h"

namespace svc {

namespace {

constexpr Duration interval = std::chrono::seconds(5);
constexpr int at_once = 20;

}  // namespace

bool ReportMemory::admit(std::string_view instance) {
    const std::lock_guard lock(mutex_);
    Voice& from = voice(instance);
    const SteadyTime now = clock_.steady_now();
    if (from.free_at <= now) from.refused = false;
    from.free_at = std::max(from.free_at, now);
    if (from.free_at - now <= (at_once - 1) * interval) {
        from.free_at += interval;
        return true;
    }
    if (!std::exchange(from.refused, true))
        log::warning("container reports too often", {{"container", std::string(instance)}});
    return false;
}

bool ReportMemory::is_news(std::string_view instance, std::string_view status) {
    const std::lock_guard lock(mutex_);
    Voice& from = voice(instance);
    if (from.status == status) return false;
    from.status = status;
    return true;
}

void ReportMemory::forget_all_but(const std::function<bool(std::string_view instance)>& is_there) {
    const std::lock_guard lock(mutex_);
    std::erase_if(voices_, [&](const auto& voice) { return !is_there(voice.first); });
}

ReportMemory::Voice& ReportMemory::voice(std::string_view instance) {
    if (const auto found = voices_.find(instance); found != voices_.end()) return found->second;
    return voices_.emplace(instance, Voice()).first->second;
}

}  // namespace svc
