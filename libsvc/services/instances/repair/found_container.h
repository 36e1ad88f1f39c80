#pragma once
// Whether the runtime has the container of an instance, and the state of that container.
#include <string_view>

#include "libsvc/runtime/runtime.h"

namespace svc {

struct FoundContainer {
    bool exists = false;
    bool runs = false;
    bool frozen = false;
    bool unreadable = false;
    bool specification_lost = false;

    static FoundContainer of(const ContainerInfo& container) {
        const bool runs = container.state == ContainerState::running;
        return {true, runs, runs && container.frozen, container.state == ContainerState::unreadable,
                container.specification_lost};
    }
    static FoundContainer look(Runtime& runtime, std::string_view id) {
        const auto container = runtime.inspect(id);
        return container ? of(*container) : FoundContainer{};
    }
};

}  // namespace svc
