#include "libsvc/runtime/lxd/instances.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/rollback.h"
#include "libsvc/base/strings.h"
#include "libsvc/runtime/lxc/network/links.h"

namespace svc::lxd {

namespace {

constexpr const char* all_instances = "/1.0/instances?recursion=1";
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

std::string ids_of_root() {
    return is_there("/etc/subuid") ? read_file("/etc/subuid") : "";
}

}  // namespace

Instances::Instances(Connection& lxd, const LxdOptions& options)
    : lxd_(lxd),
      options_(options),
      pool_(options.pool.empty() ? pool_of_default_profile(lxd) : options.pool) {}

std::optional<Instance> Instances::find(std::string_view id) {
    const auto record = lxd_.find(instance_path(id));
    return record ? parse_instance(*record, options_.network.bridge) : std::nullopt;
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
    std::vector<Instance> found;
    const Json records = lxd_.get(all_instances);
    for (const Json& record : records.as_array())
        if (auto instance = parse_instance(record, options_.network.bridge)) found.push_back(*instance);
    return found;
}

// Of all instances, those of others too: none may share a range.
std::uint32_t Instances::take_id_base() {
    return taken_.with([&](auto& taken) {
        std::set<std::string> used;
        for (const std::uint32_t base : taken) used.insert(std::to_string(base));
        const Json records = lxd_.get(all_instances);
        for (const Json& record : records.as_array())
            for (const char* key : {id_base_key, "volatile.idmap.base"})
                used.insert(text_of(record.at("config"), key));
        for (const std::uint32_t base : id_bases(ids_of_root())) {
            if (used.contains(std::to_string(base))) continue;
            taken.push_back(base);
            return base;
        }
        throw Error(ErrorCode::exhausted,
                    "no range of user ids is free: give root a larger one in /etc/subuid");
    });
}

void Instances::make_from(const Json& creation) {
    lxd_.change(Method::post, "/1.0/instances", creation);
}

void Instances::make(const lxc::StoredSpec& stored, const std::vector<PlacedFile>& files,
                     const std::string& fingerprint) {
    remove(stored.spec.id);
    const std::uint32_t base = take_id_base();
    Rollback reserved, undo;
    reserved.add("range of ids", [&] { taken_.with([&](auto& taken) { std::erase(taken, base); }); });
    undo.add("instance", [&] { remove(stored.spec.id); });
    make_from(creation_of(stored, options_, pool_, fingerprint, base));
    for (const PlacedFile& file : files) place(stored.spec.id, file);
    set(stored.spec.id, ready_key, "true");
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
        lxd_.send(upload(id, folder, "directory", 0755));
    }
    // Over a file that exists, LXD would keep its owner and mode.
    lxd_.remove(instance_path(id) + "/files?path=" + percent_encode(file.path));
    ClientRequest request = upload(id, file.path, "file", file.mode);
    request.body = file.content;
    lxd_.send(request);
}

void Instances::replace_disk(const Instance& old, const std::string& fingerprint) {
    const std::string& id = old.stored.spec.id;
    const std::string fresh = id + new_suffix;
    remove(fresh);
    Json creation = creation_of(old.stored, options_, pool_, fingerprint, old.id_base);
    creation.set("name", instance_name(fresh));
    make_from(creation);
    set(fresh, ready_key, "true");
    remove(id);
    lxd_.change(Method::post, instance_path(fresh), Json::object({{"name", instance_name(id)}}));
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

void Instances::start(std::string_view id) {
    lxc::remove_link(device_of(id, options_));  // what a failed start may have left
    lxd_.change(Method::put, instance_path(id) + "/state", state("start"));
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

void Instances::remove(std::string_view id) {
    lxd_.remove(instance_path(id));
}

}  // namespace svc::lxd
