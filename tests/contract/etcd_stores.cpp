#include <atomic>

#include "tests/contract/etcd_world.h"
#include "tests/contract/stores.h"
#include "tests/support/eventually.h"

namespace svc::test {

EtcdCluster& shared_etcd() {
    skip_unless_etcd();
    static EtcdCluster cluster;
    return cluster;
}

Clock& system_clock() {
    static SystemClock clock;
    return clock;
}

EtcdOptions etcd_options(const std::vector<std::string>& endpoints) {
    static std::atomic<int> made = 0;
    const std::string number = std::to_string(++made);
    EtcdOptions options;
    options.endpoints = endpoints;
    options.root = "/test" + number + "/";
    options.manager = "manager" + number;
    options.host = "host" + number;
    options.exclusive = false;
    options.silence = std::chrono::milliseconds(50);
    options.patience = long_wait;
    return options;
}

std::vector<StoreKind> stores() {
    const std::vector<std::string> endpoints = shared_etcd().endpoints();
    return {{"etcd", [endpoints](const auto&) {
                 return std::make_unique<EtcdStore>(etcd_options(endpoints), system_clock());
             }}};
}

}  // namespace svc::test
