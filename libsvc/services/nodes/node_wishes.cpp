#include "libsvc/services/nodes/node_wishes.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"

namespace svc {

namespace {

void check_trust(const NodeCreate& request) {
    constexpr const char* needless = "managers know each other by the certificate of their cluster";
    if (!request.trust_password.empty()) throw_invalid("trust_password", needless);
    if (!request.trust_token.empty()) throw_invalid("trust_token", needless);
}

template <class T>
void check_setting(const char* argument, const T& wanted, const T& unasked, const T* has) {
    if (wanted == unasked || (has != nullptr && wanted == *has)) return;
    throw_invalid(argument, "the network of a machine is set where its own svcd is configured");
}

void check_network(const NodeCreate& request, const RuntimeNode* machine) {
    const NodeCreate defaults;  // ask for nothing
    const Capacity* const has = machine == nullptr ? nullptr : &machine->capacity;
    check_setting("network_name", request.network_name, defaults.network_name, has ? &has->bridge : nullptr);
    check_setting("network_subnet", request.network_subnet, defaults.network_subnet,
                  has ? &has->subnet : nullptr);
    check_setting("network_bridge_mtu", request.bridge_mtu, defaults.bridge_mtu,
                  has ? &has->bridge_mtu : nullptr);
}

void check_pool(const NodeCreate& request, const RuntimeNode* machine, MachineCluster* cluster) {
    if (request.storage_pool.empty()) return;
    std::string pool = machine == nullptr ? "" : machine->capacity.storage_pool;
    if (cluster != nullptr) pool = cluster->pool().name;
    if (pool.empty())
        throw_invalid("storage_pool", "the storage of a machine is set where its own svcd is configured");
    if (pool != request.storage_pool) throw_invalid("storage_pool", "the pool is " + quoted(pool));
}

void check_device(const NodeCreate& request, const RuntimeNode* machine, MachineCluster* cluster) {
    if (request.storage_device.empty()) return;
    if (cluster == nullptr)
        throw_invalid("storage_device", "this runtime keeps containers in its state directory");
    const bool is_there = machine != nullptr && machine->online;  // one that was removed is known still
    if (is_there || request.unmanaged)
        throw_invalid("storage_device", "the machine has its part of the storage pool already");
    if (cluster->pool().driver != "dir") return;
    throw_invalid("storage_device", "the storage pool is a folder on each machine");
}

}  // namespace

void check_wishes(const NodeCreate& request, const RuntimeNode* machine, MachineCluster* cluster) {
    check_trust(request);
    check_network(request, machine);
    check_pool(request, machine, cluster);
    check_device(request, machine, cluster);
}

}  // namespace svc
