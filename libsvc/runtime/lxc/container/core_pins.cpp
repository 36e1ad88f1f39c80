#include "libsvc/runtime/lxc/container/core_pins.h"

#include <sched.h>

#include <algorithm>
#include <cmath>

namespace svc::lxc {

std::vector<unsigned> CorePins::choose(const std::string& id, double cpus) {
    const auto wanted =
        static_cast<std::size_t>(std::ceil(std::clamp(cpus, 1.0, static_cast<double>(cores_.size()))));
    return pinned_.with([&](auto& pinned) {
        pinned.erase(id);
        std::map<unsigned, unsigned> users;
        for (const auto& [other, cores] : pinned)
            for (const unsigned core : cores) ++users[core];
        std::vector<unsigned> chosen = cores_;
        std::stable_sort(chosen.begin(), chosen.end(),
                         [&](unsigned a, unsigned b) { return users[a] < users[b]; });
        chosen.resize(std::min(wanted, chosen.size()));
        std::sort(chosen.begin(), chosen.end());
        pinned[id] = chosen;
        return chosen;
    });
}

void CorePins::remember(const std::string& id, std::vector<unsigned> cores) {
    pinned_.with([&](auto& pinned) { pinned[id] = std::move(cores); });
}

void CorePins::release(const std::string& id) {
    pinned_.with([&](auto& pinned) { pinned.erase(id); });
}

std::vector<unsigned> usable_cores() {
    cpu_set_t set{};
    std::vector<unsigned> cores;
    if (::sched_getaffinity(0, sizeof set, &set) != 0) return {0};
    for (unsigned core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &set)) cores.push_back(core);
    return cores;
}

}  // namespace svc::lxc
