#include <atomic>

#include "libsvc/base/error.h"
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

EtcdOptions another_manager(EtcdOptions options, const std::string& mark) {
    options.manager += mark;
    options.host += mark;
    return options;
}

namespace {

// Committed by the manager that leads, read and watched at another one.
class LeaderAndFollower final : public Store {
  public:
    explicit LeaderAndFollower(const EtcdOptions& options)
        : leader_(options, system_clock()), follower_(another_manager(options), system_clock()) {
        follower_.join("127.0.0.1:2");
        leader_.lead();
    }
    std::optional<Entry> get(std::string_view key) override { return follower_.get(key); }
    std::vector<Entry> list(std::string_view prefix) override { return follower_.list(prefix); }
    void scan(std::string_view prefix, const std::function<void(Entry)>& take) override {
        follower_.scan(prefix, take);
    }
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override {
        return follower_.watch(std::move(prefix), std::move(on_change));
    }
    Revision commit(const Batch& batch) override {
        try {
            const Revision revision = leader_.commit(batch);
            follower_.await(revision, long_wait);
            return revision;
        } catch (const Error& e) {
            if (e.code() == ErrorCode::conflict) follower_.catch_up();
            throw;
        }
    }

  private:
    EtcdStore leader_, follower_;
};

}  // namespace

std::vector<StoreKind> stores() {
    const std::vector<std::string> endpoints = shared_etcd().endpoints();
    const auto led = [endpoints] {
        EtcdOptions options = etcd_options(endpoints);
        options.exclusive = true;
        return options;
    };
    return {
        {"etcd",
         [endpoints](const auto&) {
             return std::make_unique<EtcdStore>(etcd_options(endpoints), system_clock());
         }},
        {"etcd, two managers", [led](const auto&) { return std::make_unique<LeaderAndFollower>(led()); }}};
}

}  // namespace svc::test
