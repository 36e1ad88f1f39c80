#include "libsvc/runtime/lxd/cluster.h"

#include <vector>

#include "libsvc/base/digest.h"
#include "libsvc/base/strings.h"

namespace svc::lxd {

namespace {

using namespace std::chrono_literals;

constexpr const char* default_pool = "svc0";
constexpr const char* default_profile = "/1.0/profiles/default";
constexpr const char* port = ":8443";  // LXD's
constexpr Duration online_patience = 60s;
constexpr Duration look_again = 100ms;

std::string pool_path(const std::string& name) {
    return "/1.0/storage-pools/" + percent_encode(name);
}

std::string member_path(const std::string& name) {
    return "/1.0/cluster/members/" + percent_encode(name);
}

std::string names_of(const Json& urls) {
    std::vector<std::string> names;
    for (const Json& url : urls.as_array())
        names.push_back(url.as_string().substr(url.as_string().rfind('/') + 1));
    return join(names, ", ");
}

// LXD takes a token as the password of the cluster.
std::string token_of(const Json& invited) {
    return base64_encode(Json::object({{"server_name", invited.at("serverName")},
                                       {"fingerprint", invited.at("fingerprint")},
                                       {"addresses", invited.at("addresses")},
                                       {"secret", invited.at("secret")},
                                       {"expires_at", invited.at("expiresAt")}})
                             .dump());
}

bool listens_everywhere(const std::string& address) {
    return address.starts_with(':') || address.starts_with("[::]") || address.starts_with("0.0.0.0");
}

}  // namespace

std::string trusted_member(Connection& lxd) {
    const Json server = lxd.get("/1.0");
    if (text_of(server, "auth") != "trusted")
        throw Error(ErrorCode::forbidden, "LXD does not trust the client certificate");
    const Json& about = server.at("environment");
    return about.at("server_clustered").as_bool() ? text_of(about, "server_name") : "";
}

std::string Cluster::address(const std::string& host) {
    const std::string own = text_of(lxd_.get("/1.0").at("config"), "core.https_address");
    if (!own.empty() && !listens_everywhere(own))
        return own.find(':') == std::string::npos ? own + port : own;
    return (host.find(':') == std::string::npos ? host : "[" + host + "]") + port;
}

bool Cluster::is_marked(const std::string& id) {
    const auto pool = lxd_.find(pool_path(pool_name()));
    return pool && text_of(pool->at("config"), mark_) == id;
}

// The pool's record is read from the members' database; other settings are what a member last heard of.
void Cluster::mark(const std::string& id) {
    lxd_.change(Method::patch, pool_path(pool_name()),
                Json::object({{"config", Json::object({{mark_, id}})}}));
}

void Cluster::refuse(const char* what, const char* path) {
    const Json found = lxd_.get(path);
    if (found.as_array().empty()) return;
    throw Error(ErrorCode::conflict,
                "lxd_cluster: this LXD has " + std::string(what) + " (" + names_of(found) +
                    ") and is not taken into a cluster: remove them, or leave lxd_cluster out");
}

void Cluster::refuse_containers() {
    refuse("containers", "/1.0/instances?all-projects=true");
}

void Cluster::refuse_images() {
    refuse("images", "/1.0/images?all-projects=true");
}

void Cluster::refuse_pools() {
    refuse("storage pools", "/1.0/storage-pools");
}

void Cluster::found(const MemberAddress& self) {
    lxd_.change(Method::patch, "/1.0",
                Json::object({{"config", Json::object({{"core.https_address", self.address}})}}));
    make_pool();
    give_profile_a_disk();
    lxd_.change(Method::put, "/1.0/cluster", Json::object({{"server_name", self.name}, {"enabled", true}}));
}

std::string Cluster::pool_name() {
    if (!plan_.name.empty()) return plan_.name;
    const Json profile = lxd_.get(default_profile);
    for (const auto& [name, device] : profile.at("devices").as_object())
        if (text_of(device, "type") == "disk" && text_of(device, "path") == "/")
            return text_of(device, "pool");
    return default_pool;
}

void Cluster::make_pool() {
    const std::string name = pool_name();
    if (lxd_.find(pool_path(name))) return;
    Json config = Json::object();
    if (!plan_.source.empty()) config.set("source", plan_.source);
    if (!plan_.size.empty()) config.set("size", plan_.size);
    lxd_.change(Method::post, "/1.0/storage-pools",
                Json::object({{"name", name}, {"driver", plan_.driver}, {"config", std::move(config)}}));
}

// For whoever uses LXD beside the service.
void Cluster::give_profile_a_disk() {
    const Json profile = lxd_.get(default_profile);
    for (const auto& [name, device] : profile.at("devices").as_object())
        if (text_of(device, "path") == "/") return;
    Json root = Json::object({{"type", "disk"}, {"path", "/"}, {"pool", pool_name()}});
    lxd_.change(Method::patch, default_profile,
                Json::object({{"devices", Json::object({{"root", std::move(root)}})}}));
}

Json Cluster::invite(const std::string& name) {
    const Json server = lxd_.get("/1.0");
    if (lxd_.find(member_path(name)))
        throw Error(ErrorCode::conflict, "LXD's cluster has a member " + name +
                                             " that is not the LXD of this machine: DELETE /1.0/nodes/" +
                                             name + " removes it");
    const Json invited =
        lxd_.begin(Method::post, "/1.0/cluster/members", Json::object({{"server_name", name}}))
            .at("metadata");
    return Json::object({{"token", token_of(invited)},
                         {"address", invited.at("addresses").as_array().front()},
                         {"certificate", server.at("environment").at("certificate")},
                         {"pool", pool_name()},
                         {"member_config", lxd_.get("/1.0/cluster").at("member_config")}});
}

// What only a member itself can say of its part of each pool and network: where ours is. LXD decides the
// rest.
Json Cluster::member_config(const Json& invitation, const std::string& source) {
    Json all = Json::array();
    for (Json each : invitation.at("member_config").as_array()) {
        const bool ours =
            text_of(each, "entity") == "storage-pool" && text_of(each, "name") == text_of(invitation, "pool");
        const std::string key = text_of(each, "key");
        if (ours && key == "source") each.set("value", source.empty() ? plan_.source : source);
        if (ours && key == "size") each.set("value", plan_.size);
        all.push_back(std::move(each));
    }
    return all;
}

// LXD makes its part of the pool before it joins.
void Cluster::clear_unfinished() {
    const std::string pool = pool_path(pool_name());
    if (!lxd_.find(pool)) return;
    Json profile = lxd_.get(default_profile);
    profile.set("devices", Json::object());
    lxd_.change(Method::put, default_profile, profile);
    lxd_.remove(pool);
}

void Cluster::join(const MemberAddress& self, const Json& invitation, const std::string& source) {
    lxd_.change(Method::put, "/1.0/cluster",
                Json::object({{"server_name", self.name},
                              {"enabled", true},
                              {"server_address", self.address},
                              {"cluster_address", invitation.at("address")},
                              {"cluster_certificate", invitation.at("certificate")},
                              {"cluster_password", invitation.at("token")},
                              {"member_config", member_config(invitation, source)}}));
    await_online(self.name);
}

bool Cluster::is_online(const std::string& member) {
    const auto record = lxd_.find(member_path(member));
    return record && text_of(*record, "status") == "Online";
}

void Cluster::await_online(const std::string& name) {
    const SteadyTime end = clock_.steady_now() + online_patience;
    while (text_of(lxd_.get(member_path(name)), "status") != "Online") {
        if (clock_.steady_now() > end)
            throw Error(ErrorCode::unavailable, "LXD's cluster does not see its new member " + name);
        clock_.wait({}, look_again);
    }
}

bool is_evacuated(Connection& lxd, const std::string& member) {
    const auto record = lxd.find(member_path(member));
    return record && text_of(*record, "status") == "Evacuated";
}

MachineCluster::Pool Cluster::pool() {
    const std::string name = pool_name();
    return {name, text_of(lxd_.get(pool_path(name)), "driver")};
}

// LXD asks the member to forget everything, unless it is told to do without.
void Cluster::remove(const std::string& machine, bool force) {
    const auto record = lxd_.find(member_path(machine));
    if (!record) return;
    const bool dead = force && text_of(*record, "status") == "Offline";
    try {
        lxd_.remove(member_path(machine) + (dead ? "?force=1" : ""));
    } catch (const Error& e) {
        if (!force || dead || e.code() == ErrorCode::conflict) throw;
        lxd_.remove(member_path(machine) + "?force=1");
    }
}

}  // namespace svc::lxd
