#include "libsvc/runtime/lxc/containers/container_table.h"

#include <fmt/format.h>

#include "libsvc/base/error.h"

namespace svc::lxc {

void check_readable(const std::string& id, const Container& container) {
    if (container.fault.empty()) return;
    throw Error(ErrorCode::unavailable,
                fmt::format("container '{}' cannot be read: {}", id, container.fault));
}

ContainerPtr ContainerTable::find(const std::string& id) const {
    return containers_.with([&](const auto& containers) {
        const auto found = containers.find(id);
        return found == containers.end() ? nullptr : found->second;
    });
}

ContainerPtr ContainerTable::get(const std::string& id) const {
    if (ContainerPtr container = find(id)) return container;
    throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
}

ContainerPtr ContainerTable::find_or_add(const std::string& id) {
    return containers_.with([&](auto& containers) {
        ContainerPtr& container = containers[id];
        if (!container) container = std::make_shared<Container>();
        return container;
    });
}

void ContainerTable::erase(const std::string& id, const ContainerPtr& container) {
    containers_.with([&](auto& containers) {
        if (const auto found = containers.find(id); found != containers.end() && found->second == container)
            containers.erase(found);
    });
}

std::map<std::string, ContainerPtr> ContainerTable::all() const {
    return containers_.with([](const auto& containers) { return containers; });
}

}  // namespace svc::lxc
