#include "server/store_choice.h"

#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/presence.h"
#include "libsvc/base/strings.h"
#include "libsvc/services/nodes/local_node.h"
#include "libsvc/store/etcd/etcd_store.h"
#include "libsvc/store/sqlite/sqlite_store.h"

namespace svc::server {

namespace {

constexpr std::size_t id_bytes = 16;

// Names this state directory among those whose records are in the same etcd.
std::string manager_id(const std::filesystem::path& file) {
    if (!is_there(file)) write_file_atomically(file, to_hex(random_bytes(id_bytes)) + "\n", 0600);
    std::string id(trim(read_file(file)));
    if (id.size() != 2 * id_bytes || id.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw Error(ErrorCode::internal, "manager.id in the state directory is damaged: remove it");
    return id;
}

std::optional<KeyPair> identity_of(const EtcdSettings& etcd) {
    if (etcd.certificate.empty() != etcd.key.empty())
        throw Error(ErrorCode::invalid_argument, "etcd_cert and etcd_key must be given together");
    if (etcd.certificate.empty()) return std::nullopt;
    return KeyPair{etcd.certificate, etcd.key};
}

}  // namespace

std::unique_ptr<Store> open_store(const Options& options, const StateDirectory& state, Clock& clock,
                                  std::function<void()> lost) {
    if (options.store == "sqlite") return std::make_unique<SqliteStore>(state.database());
    EtcdOptions etcd;
    etcd.endpoints = options.etcd.endpoints;
    etcd.authorities = options.etcd.authorities;
    etcd.identity = identity_of(options.etcd);
    etcd.manager = manager_id(state.manager_id());
    etcd.host = options.node_name.empty() ? host_node_name() : options.node_name;
    etcd.on_lost = std::move(lost);
    return std::make_unique<EtcdStore>(etcd, clock);
}

void refuse_records_in_etcd(const Options& options) {
    const StatePaths state(options.state_dir);
    if (options.store == "etcd" || (is_there(state.manager_id()) && !is_there(state.database())))
        throw Error(
            ErrorCode::unsupported,
            "the records of this state directory are in etcd; use etcdctl snapshot for backups of them");
}

}  // namespace svc::server
