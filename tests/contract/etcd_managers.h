#pragma once
// Managers of one cluster in the test's process, each with a store of its own.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "libsvc/base/json.h"
#include "tests/contract/etcd_world.h"
#include "tests/support/eventually.h"

namespace svc::test {

inline EtcdOptions cluster_options() {
    EtcdOptions options = etcd_options(shared_etcd().endpoints());
    options.exclusive = true;
    return options;
}

// A manager, and what its store has told it.
struct Member {
    explicit Member(EtcdOptions given) : options(told(std::move(given))) {}
    EtcdOptions told(EtcdOptions given) {
        given.on_leading = [this](std::uint64_t now) { term = now; };
        given.on_lost = [this] { ++lost; };
        return given;
    }
    void open() { store = std::make_unique<EtcdStore>(options, system_clock()); }
    void join(const std::string& address = "127.0.0.1:1") {
        open();
        store->join(address);
    }
    void campaign() {
        join();
        store->campaign();
    }
    void lead() {
        campaign();
        eventually("it leads", [&] { return term != 0 && store->leads(); });
    }
    Membership& membership() { return store->membership(); }

    std::atomic<std::uint64_t> term{0};
    std::atomic<int> lost{0};
    const EtcdOptions options;
    std::unique_ptr<EtcdStore> store;
};

inline std::string lease_of(const std::string& key) {
    const Json reply = Json::parse(shared_etcd().control({"get", key, "-w", "json"}));
    char hex[32];
    std::snprintf(hex, sizeof hex, "%llx",
                  static_cast<unsigned long long>(reply.at("kvs").as_array()[0].at("lease").as_int()));
    return hex;
}

inline void end_lease_of(const std::string& key) {
    shared_etcd().control({"lease", "revoke", lease_of(key)});
}

}  // namespace svc::test
