#include "libsvc/runtime/lxd/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/network/guest_rules.h"
#include "libsvc/runtime/lxc/network/links.h"

namespace svc::lxd {

namespace {

constexpr const char* all_instances = "/1.0/instances?recursion=1";
constexpr const char* all_instances_with_state = "/1.0/instances?recursion=2";
constexpr const char* new_suffix = "-new";  // of an instance whose disk takes the place of another's

std::string pool_of_default_profile(Connection& lxd) {
    const Json profile = lxd.get("/1.0/profiles/default");
    for (const auto& [name, device] : profile.at("devices").as_object())
        if (text_of(device, "type") == "disk" && text_of(device, "path") == "/")
            return text_of(device, "pool");
    throw Error(ErrorCode::unsupported,
                "LXD's profile 'default' has no root disk: run `lxd init`, or name a storage pool");
}

Json state(const char* action) {
    return Json::object({{"action", action}, {"timeout", -1}});
}

ClientRequest upload(std::string_view id, const std::string& path, const char* type, unsigned mode) {
    ClientRequest request;
    request.method = Method::post;
    request.path = instance_path(id) + "/files?path=" + percent_encode(path);
    request.headers.set("X-LXD-type", type);
    request.headers.set("X-LXD-mode", fmt::format("{:04o}", mode));
    request.headers.set("X-LXD-uid", "0");
    request.headers.set("X-LXD-gid", "0");
    return request;
}

constexpr int file_tries = 10;

// LXD 5.0.2 has a process for the files of each instance, which ends when it is idle. A call that comes at
// that moment fails although nothing is wrong; the next one starts another process.
void call_for_file(const std::function<void()>& call) {
    for (int left = file_tries - 1;; --left) try {
            return call();
        } catch (const Error& e) {
            if (left == 0 || std::string_view(e.what()).find("forkfile.sock") == std::string_view::npos)
                throw;
        }
}

std::set<std::uint32_t> bases_in(const Json& record) {
    std::set<std::uint32_t> bases;
    for (const char* key : {id_base_key, "volatile.idmap.base"})
        if (const std::string text = text_of(record.at("config"), key); !text.empty())
            bases.insert(static_cast<std::uint32_t>(std::stoul("0" + text)));
    return bases;
}

std::string ids_of_root() {
    return is_there("/etc/subuid") ? read_file("/etc/subuid") : "";
}

}  // namespace

Instances::Instances(Connection& lxd, const LxdOptions& options, std::string member)
    : lxd_(lxd),
      options_(options),
      member_(std::move(member)),
      pool_(options.pool.empty() ? pool_of_default_profile(lxd) : options.pool),
      bases_(id_bases(ids_of_root()), [this] { return bases_of_machine(); }) {}

std::optional<Instance> Instances::find(std::string_view id) {
    const auto record = lxd_.find(instance_path(id));
    if (!record || !is_own(text_of(*record, "location"))) return std::nullopt;
    return parse_instance(*record, options_.network.bridge);
}

Instance Instances::get(std::string_view id) {
    auto instance = find(id);
    if (!instance || !instance->ready)
        throw Error(ErrorCode::not_found, fmt::format("container '{}' not found", id));
    return std::move(*instance);
}

Instance Instances::idle(std::string_view id) {
    Instance instance = get(id);
    if (instance.running()) throw Error(ErrorCode::busy, fmt::format("container '{}' is running", id));
    return instance;
}

std::vector<Instance> Instances::all() {
    std::vector<Instance> found = parse(lxd_.get_own(all_instances));
    std::erase_if(found, [&](const Instance& instance) { return !is_own(instance.location); });
    return found;
}

std::vector<Instance> Instances::all_of_cluster() {
    return parse(lxd_.get(all_instances));
}

std::vector<Instance> Instances::parse(const Json& records) const {
    std::vector<Instance> found;
    for (const Json& record : records.as_array())
        if (auto instance = parse_instance(record, options_.network.bridge)) found.push_back(*instance);
    return found;
}

std::vector<Instances::Running> Instances::running() {
    std::vector<Running> found;
    const Json records = lxd_.get_own(all_instances_with_state);
    for (const Json& record : records.as_array()) {
        if (!is_own(text_of(record, "location"))) continue;
        auto instance = parse_instance(record, options_.network.bridge);
        const Json* const state = record.find("state");
        if (instance && instance->running() && state != nullptr)
            found.push_back({std::move(*instance), *state});
    }
    return found;
}

// Of all instances of this machine, those of others too: none may share a range. Each member of a cluster
// has the ids of its machine.
IdBases::Taken Instances::bases_of_machine() {
    IdBases::Taken taken;
    const Json records = lxd_.get_own(all_instances);
    for (const Json& record : records.as_array())
        if (is_own(text_of(record, "location"))) taken[text_of(record, "name")] = bases_in(record);
    return taken;
}

void Instances::note_change(const std::string& name) {
    if (name.empty()) return bases_.forget();
    const auto record = lxd_.find("/1.0/instances/" + percent_encode(name));
    const bool is_here = record && is_own(text_of(*record, "location"));
    bases_.note(name, is_here ? bases_in(*record) : std::set<std::uint32_t>());
}

void Instances::make_from(const Json& creation) {
    const std::string target = member_.empty() ? "" : "?target=" + percent_encode(member_);
    lxd_.change(Method::post, "/1.0/instances" + target, creation);
}

void Instances::make(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files,
                     const std::string& fingerprint) {
    const std::string name = instance_name(stored.spec.id);
    const std::uint32_t base = bases_.take(name);
    Rollback undo;
    undo.add("instance", [&] { remove(stored.spec.id); });
    make_from(creation_of(stored, options_, pool_, fingerprint, base));
    for (const PlacedFile& file : files) place(stored.spec.id, file);
    set(stored.spec.id, ready_key, "true");
    bases_.made(name);
    undo.dismiss();
}

void Instances::change(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files) {
    lxd_.change(Method::patch, instance_path(stored.spec.id),
                Json::object({{"config", config_of(stored, options_)},
                              {"devices", devices_of(stored, options_, pool_)}}));
    for (const PlacedFile& file : files) place(stored.spec.id, file);
}

void Instances::place(std::string_view id, const PlacedFile& file) {
    const std::filesystem::path path(file.path);
    if (!path.is_absolute() || !path.has_filename() || path.lexically_normal() != path)
        throw Error(ErrorCode::invalid_argument, "file name " + quoted(file.path) + " is not absolute");
    std::filesystem::path folder = "/";
    for (const auto& step : path.parent_path().relative_path()) {
        folder /= step;
        call_for_file([&] { lxd_.send(upload(id, folder, "directory", 0755)); });
    }
    // Over a file that exists, LXD would keep its owner and mode.
    call_for_file([&] { lxd_.remove(instance_path(id) + "/files?path=" + percent_encode(file.path)); });
    ClientRequest request = upload(id, file.path, "file", file.mode);
    request.body = file.content;
    call_for_file([&] { lxd_.send(request); });
}

void Instances::replace_disk(const Instance& old, const std::string& fingerprint) {
    const std::string& id = old.stored.spec.id;
    const std::string fresh = id + new_suffix;
    remove(fresh);
    Json creation = creation_of(old.stored, options_, pool_, fingerprint, old.id_base);
    creation.set("name", instance_name(fresh));
    make_from(creation);
    set(fresh, ready_key, "true");
    lxd_.remove(instance_path(id));  // its range stays taken
    lxd_.change(Method::post, instance_path(fresh), Json::object({{"name", instance_name(id)}}));
    bases_.free(instance_name(fresh));
}

std::vector<Instance> Instances::recover() {
    std::vector<Instance> whole;
    for (Instance& instance : all()) {
        const std::string& id = instance.stored.spec.id;
        const bool is_new = instance.name != instance_name(id);
        if (is_new && instance.ready && !find(id)) {
            lxd_.change(Method::post, instance_path(id + new_suffix),
                        Json::object({{"name", instance_name(id)}}));
        } else if (is_new || !instance.ready) {
            remove(is_new ? id + new_suffix : id);
            continue;
        }
        whole.push_back(std::move(instance));
    }
    return whole;
}

void Instances::set(std::string_view id, const char* key, const std::string& value) {
    lxd_.change(Method::patch, instance_path(id), Json::object({{"config", Json::object({{key, value}})}}));
}

void Instances::start(const Instance& instance) {
    const std::string& id = instance.stored.spec.id;
    lxc::remove_link(device_of(id, options_));  // what a failed start may have left
    if (instance.hardware_address != lxc::hardware_address(instance.stored.spec.address))
        lxd_.change(Method::patch, instance_path(id),
                    Json::object({{"devices", devices_of(instance.stored, options_, pool_)}}));
    try {
        lxd_.change(Method::put, instance_path(id) + "/state", state("start"));
    } catch (const Error& e) {
        if (e.code() != ErrorCode::conflict || !take_address(instance)) throw;
        lxd_.change(Method::put, instance_path(id) + "/state", state("start"));
    }
}

// LXD refuses the hardware address of an instance that has stopped, whose address was given to this one.
bool Instances::take_address(const Instance& instance) {
    const std::string address = lxc::hardware_address(instance.stored.spec.address);
    bool taken = false;
    for (const Instance& other : all()) {
        if (other.name == instance.name || other.running() || other.hardware_address != address) continue;
        Json nic = devices_of(other.stored, options_, pool_).at("eth0");
        nic.erase("hwaddr");
        lxd_.change(Method::patch, "/1.0/instances/" + percent_encode(other.name),
                    Json::object({{"devices", Json::object({{"eth0", std::move(nic)}})}}));
        taken = true;
    }
    return taken;
}

void Instances::stop(std::string_view id, Duration grace) {
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(grace).count();
    Json request = Json::object({{"action", "stop"}, {"timeout", seconds}, {"force", seconds == 0}});
    for (const bool last : {false, true}) {
        try {
            lxd_.change(Method::put, instance_path(id) + "/state", request);
            return;
        } catch (const Error& e) {
            const auto instance = find(id);
            if (!instance || !instance->running()) return;
            if (last) throw;
            log::debug("an instance does not stop by itself", {{"error", e.what()}});
        }
        request = Json::object({{"action", "stop"}, {"timeout", -1}, {"force", true}});
    }
}

void Instances::set_frozen(std::string_view id, bool frozen) {
    lxd_.change(Method::put, instance_path(id) + "/state", state(frozen ? "freeze" : "unfreeze"));
}

void Instances::remove(std::string_view id) {
    lxd_.remove(instance_path(id));
    bases_.free(instance_name(id));
}

}  // namespace svc::lxd
