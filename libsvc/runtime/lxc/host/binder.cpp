#include "libsvc/runtime/lxc/host/binder.h"

#include <fmt/format.h>

#include <algorithm>

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc::lxc {

namespace {

constexpr const char* how_to_load =
    "modprobe binder_linux devices=binder0,hwbinder0,vndbinder0,binder1,hwbinder1,vndbinder1";

bool is_of_machine(const std::string& device) {
    return std::ranges::find(binder_names, device) != binder_names.end();
}

std::vector<std::string> devices_for_guests(std::string_view parameter) {
    std::vector<std::string> devices;
    for (const std::string& word : split(trim(parameter), ','))
        if (!word.empty() && word != "(null)" && !is_of_machine(word)) devices.push_back(word);
    return devices;
}

}  // namespace

std::string BinderSupport::text() const {
    if (!usable()) return fault;
    return file_system ? "binderfs" : fmt::format("binder devices for {} guests", sets.size());
}

const BinderSet& BinderSupport::set_of(std::uint32_t root) const {
    const std::uint32_t number = (root - first_binder_range) / android_ids;
    if (root < first_binder_range || number >= sets.size())
        throw Error(ErrorCode::internal, fmt::format("no set of binder devices belongs to user id {}", root));
    return sets[number];
}

std::vector<IdRange> BinderSupport::ranges() const {
    std::vector<IdRange> ranges;
    for (std::size_t n = 0; n < sets.size(); ++n)
        ranges.push_back({first_binder_range + static_cast<std::uint32_t>(n) * android_ids, android_ids});
    return ranges;
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
