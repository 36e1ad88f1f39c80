#include "server/cluster/shared_identity.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/log.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"

namespace svc::server {

namespace {

constexpr std::size_t cluster_id_bytes = 16;
constexpr int max_makings = 10;  // each needs another member to have been quicker

struct SharedIdentity {
    std::string id;
    std::map<std::string, std::string> files;  // name in etcd -> content
};

std::string to_etcd(const SharedIdentity& identity) {
    Json files = Json::object();
    for (const auto& [name, content] : identity.files) files.set(name, base64_encode(content));
    return Json::object({{"id", identity.id}, {"files", std::move(files)}}).dump();
}

SharedIdentity from_etcd(const std::string& text) {
    try {
        const Json json = Json::parse(text);
        SharedIdentity identity{json.at("id").as_string(), {}};
        for (const auto& [name, content] : json.at("files").as_object())
            identity.files.emplace(name, base64_decode(content.as_string()));
        return identity;
    } catch (const Error& e) {
        throw Error(ErrorCode::internal,
                    std::string("the identity of the cluster in etcd is damaged: ") + e.what());
    }
}

SharedIdentity made_identity(const IdentityFiles& here) {
    here.make();
    SharedIdentity identity{to_hex(random_bytes(cluster_id_bytes)), {}};
    for (const auto& [name, path] : here.files) identity.files.emplace(name, read_file(path));
    return identity;
}

bool belongs_elsewhere(const std::string& known, const std::optional<Entry>& found) {
    return !known.empty() && (!found || from_etcd(found->value).id != known);
}

[[noreturn]] void throw_foreign(const IdentityFiles& here, const std::string& known,
                                const std::optional<Entry>& found) {
    const std::string other =
        found ? "etcd has the records of cluster " + from_etcd(found->value).id : "etcd has no cluster";
    throw Error(ErrorCode::conflict, "this state directory belongs to cluster " + known + ", but " + other +
                                         ": " + here.program + " " + here.danger +
                                         ". Check etcd_endpoints; new_cluster makes a cluster of this etcd "
                                         "and this state directory");
}

void refuse_living_members(EtcdStore& store, const IdentityFiles& here) {
    const Membership& membership = store.membership();
    const auto leader = membership.leader();
    if (membership.managers().size() > 1 || (leader && leader->id != membership.self().id))
        throw Error(ErrorCode::busy,
                    "new_cluster: another " + here.program + " works on the records in this etcd");
}

void take_over(const SharedIdentity& identity, const IdentityFiles& here) {
    for (const auto& [name, path] : here.files) {
        const auto shared = identity.files.find(name);
        if (shared == identity.files.end())
            throw Error(ErrorCode::internal, "the identity of the cluster in etcd has no " + name);
        const bool there = is_there(path);
        if (there && read_file(path) == shared->second) continue;
        if (there) log::warning("a file is replaced by that of the cluster", {{"file", path.string()}});
        write_file_atomically(path, shared->second, 0600);
    }
}

}  // namespace

std::string known_cluster(const std::filesystem::path& cluster_id) {
    if (!is_there(cluster_id)) return "";
    std::string id(trim(read_file(cluster_id)));
    if (id.empty()) throw Error(ErrorCode::internal, "cluster.id in the state directory is damaged");
    return id;
}

void check_identity(EtcdStore& store, const IdentityFiles& here, bool anew) {
    const std::string known = known_cluster(here.cluster_id);
    const auto found = store.identity();
    if (!belongs_elsewhere(known, found)) return;
    if (!anew) throw_foreign(here, known, found);
    refuse_living_members(store, here);
}

std::string join_identity(EtcdStore& store, const IdentityFiles& here, bool anew) {
    check_identity(store, here, anew);
    const std::string known = known_cluster(here.cluster_id);
    for (int i = 0; i < max_makings; ++i) {
        const auto found = store.identity();
        if (found && !belongs_elsewhere(known, found)) {
            const SharedIdentity identity = from_etcd(found->value);
            take_over(identity, here);
            if (known != identity.id) write_file_atomically(here.cluster_id, identity.id + "\n", 0600);
            return identity.id;
        }
        const SharedIdentity made = made_identity(here);
        if (!store.set_identity(to_etcd(made), found ? found->revision : 0)) continue;
        write_file_atomically(here.cluster_id, made.id + "\n", 0600);
        return made.id;
    }
    throw Error(ErrorCode::busy, "several members make the identity of the cluster");
}

}  // namespace svc::server
