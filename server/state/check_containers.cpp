// Containers: what their folders say, compared with the records of instances.
#include <algorithm>
#include <charconv>

#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/runtime/lxc/layout.h"
#include "libsvc/runtime/lxc/records.h"
#include "server/state/check.h"
#include "server/state/digests.h"

namespace svc::server::state {

namespace {

namespace fs = std::filesystem;

bool has_run(const Instance& instance) {
    return instance.status == InstanceStatus::running || instance.status == InstanceStatus::stopped ||
           instance.status == InstanceStatus::started;
}

// "": nothing is wrong with spec.json.
std::string fault_of(const lxc::Layout& layout, const std::string& id, const Instance* instance) {
    const auto text = read_if_there(layout.spec(id));
    if (!text) return "spec.json is missing";
    if (text->empty()) return "spec.json is empty";
    try {
        const lxc::StoredSpec stored = lxc::stored_spec_from_json(Json::parse(*text));
        if (stored.spec.id != id) return "spec.json is of container " + stored.spec.id;
        if (instance != nullptr && stored.spec.layers != *instance->layers)
            return "spec.json has other layers than the record of the instance";
    } catch (const Error& e) {
        return std::string("spec.json: ") + e.what();
    }
    return "";
}

void check_container(const lxc::Layout& layout, const std::string& id, const Records& records,
                     Findings& findings) {
    const std::string object = "container " + id;
    const auto found = records.instances.find(id);
    const Instance* const instance = found == records.instances.end() ? nullptr : &found->second;
    const bool broken = std::ranges::any_of(
        records.broken, [&](const BrokenRecord& each) { return each.key == "instances/" + id; });
    if (instance == nullptr && !broken)
        findings.warning(object, "there is no record of its instance",
                         "svcd removes it at its next start: save its files, or run svcd recover before");
    if (instance != nullptr && records.is_claimed("instances/" + id)) return;  // an operation works on it
    const std::string fault = fault_of(layout, id, instance);
    if (fault.empty()) return;
    if (instance != nullptr && has_run(*instance))
        findings.warning(object, fault,
                         "svcd makes a lost specification anew from the record of the instance");
    else
        findings.error(object, fault, "delete the instance, or mend the file");
}

}  // namespace

std::optional<std::uint32_t> read_id_base(const StatePaths& paths) {
    const auto text = read_if_there(paths.runtime("lxc") / "id_base");
    if (!text) return std::nullopt;
    std::uint32_t base = 0;
    std::from_chars(text->data(), text->data() + text->size(), base);
    return base == 0 ? std::nullopt : std::optional(base);
}

void check_containers(const StatePaths& paths, const Records& records, Findings& findings) {
    const lxc::Layout layout{paths.runtime("lxc")};
    if (is_there(layout.id_base()) && !read_id_base(paths))
        findings.error("lxc/id_base",
                       "damaged: it holds the first id of the owners of all layers and containers",
                       "stop svcd and run svcd recover");
    std::set<std::string> present;
    if (is_there(layout.containers()))
        for (const auto& entry : fs::directory_iterator(layout.containers()))
            present.insert(entry.path().filename());
    for (const std::string& id : present) check_container(layout, id, records, findings);
    for (const auto& [id, instance] : records.instances)
        if (has_run(instance) && !present.contains(id) && !records.is_claimed("instances/" + id))
            findings.error("instance " + id, "its container is gone, and with it its disk",
                           "delete it, or start it with an empty disk");
}

}  // namespace svc::server::state
