#pragma once
// What this machine's kernel has of binder, by which the parts of an Android guest talk to each other.
// docs/android.md tells why a set of devices belongs to a range of user ids.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/runtime/lxc/container/device_nodes.h"
#include "libsvc/runtime/lxc/host/id_ranges.h"

namespace svc::lxc {

// What a guest calls its nodes in /dev.
constexpr std::array<const char*, 3> binder_names{"binder", "hwbinder", "vndbinder"};

// Android gives ids up to 99999 to processes; a range takes whole blocks of 65536.
constexpr std::uint32_t android_ids = 131'072;
// The range of the first set of devices; that of the n-th one begins n * android_ids later.
constexpr std::uint32_t first_binder_range = 0x7F000000;
constexpr std::uint32_t most_binder_sets = 64;

// Devices of the machine, named as below /dev, in the order of binder_names.
using BinderSet = std::array<std::string, 3>;

struct BinderSupport {
    bool file_system = false;          // guests mount a binderfs each
    std::vector<BinderSet> sets;       // else: devices that are handed out
    std::vector<IdRange> ranges = {};  // of user ids that a guest may get: with a set, the range is the set's
    std::vector<std::string> left_out = {};  // why sets are not handed out
    std::string fault = {};                  // why no guest can have binder

    bool usable() const { return fault.empty(); }
    std::string text()
        const;  // "binderfs", "binder devices for 2 guests", or the fault; and what is left out
    // Whose ids begin at `root`. Throws internal where there is none.
    const BinderSet& set_of(std::uint32_t root) const;
};

// The range that goes with the set `number`, from 0 on.
IdRange range_of_set(std::size_t number);
// The user of Android's context managers ("system") in a range.
std::uint32_t binder_user(IdRange range);

// `filesystems`: the text of /proc/filesystems. `devices`: the parameter of that name of the module
// binder_linux, "": it is not loaded. Names that begin with "svc" are for guests, three a set, in the order
// in which the module was given them; other devices belong to other programs of the machine. `ranges` is left
// empty.
BinderSupport find_binder(std::string_view filesystems, std::string_view devices);

// The nodes of the set for a container.
std::vector<DeviceNode> binder_nodes(const BinderSet& set, const std::filesystem::path& devices);

}  // namespace svc::lxc
