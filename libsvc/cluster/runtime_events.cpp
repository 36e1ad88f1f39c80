#include "libsvc/cluster/runtime_events.h"

namespace svc {

RuntimeEvents::RuntimeEvents(Runtime& runtime) : runtime_(runtime) {
    runtime_.on_event([this](const RuntimeEvent& event) { tell(event); });
}

RuntimeEvents::~RuntimeEvents() {
    runtime_.on_event(nullptr);
}

std::shared_ptr<void> RuntimeEvents::subscribe(Listener listener) {
    auto kept = std::make_shared<Listener>(std::move(listener));
    listeners_.with([&](auto& all) {
        std::erase_if(all, [](const auto& each) { return each.expired(); });
        all.push_back(kept);
    });
    return kept;
}

void RuntimeEvents::tell(const RuntimeEvent& event) {
    for (const auto& each : listeners_.with([](const auto& all) { return all; }))
        if (const auto listener = each.lock()) (*listener)(event);
}

}  // namespace svc
