#include "libsvc/runtime/lxc/host/binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr const char* how_to_load = "modprobe binder_linux devices=svc-b0,svc-h0,svc-v0,svc-b1,svc-h1,svc-v1";
constexpr std::string_view name_for_guests = "svc";
constexpr std::uint32_t system_user = 1000;

std::vector<std::string> devices_for_guests(std::string_view parameter) {
    std::vector<std::string> devices = split(trim(parameter), ',');
    std::erase_if(devices, [](const std::string& name) { return !name.starts_with(name_for_guests); });
    return devices;
}

}  // namespace

std::string BinderSupport::text() const {
    std::string text = !usable()     ? fault
                       : file_system ? "binderfs"
                                     : fmt::format("binder devices for {} guests", ranges.size());
    for (const std::string& reason : left_out) text += "; " + reason;
    return text;
}

const BinderSet& BinderSupport::set_of(std::uint32_t root) const {
    const std::uint32_t number = (root - first_binder_range) / android_ids;
    if (root < first_binder_range || number >= sets.size())
        throw Error(ErrorCode::internal, fmt::format("no set of binder devices belongs to user id {}", root));
    return sets[number];
}

IdRange range_of_set(std::size_t number) {
    return {first_binder_range + static_cast<std::uint32_t>(number) * android_ids, android_ids};
}

std::uint32_t binder_user(IdRange range) {
    return range.first + system_user;
}

BinderSupport find_binder(std::string_view filesystems, std::string_view devices) {
    BinderSupport support;
    for (const std::string& line : split(filesystems, '\n'))
        if (trim(line) == "nodev\tbinder") support.file_system = true;
    if (support.file_system) return support;
    const std::vector<std::string> names = devices_for_guests(devices);
    for (std::size_t at = 0; at + 3 <= names.size() && support.sets.size() < most_binder_sets; at += 3)
        support.sets.push_back({names[at], names[at + 1], names[at + 2]});
    if (!support.sets.empty()) return support;
    support.fault = devices.empty() ? "the kernel has no binder, or its module is not loaded"
                                    : "the kernel has neither binderfs nor three binder devices for guests";
    support.fault += fmt::format(" ({})", how_to_load);
    return support;
}

std::vector<DeviceNode> binder_nodes(const BinderSet& set, const std::filesystem::path& devices) {
    std::vector<DeviceNode> nodes;
    for (std::size_t n = 0; n < set.size(); ++n)
        nodes.push_back({binder_names[n], devices / set[n], "binder"});
    return nodes;
}

}  // namespace svc::lxc
