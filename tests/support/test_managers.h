#pragma once
// Several managers inside the test's process: whole daemons over one store, which the test lets lead and
// fail. Link server_test_dep.
#include <memory>
#include <string>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/store/sqlite/sqlite_store.h"
#include "server/daemon.h"
#include "tests/support/api_caller.h"
#include "tests/support/fake_membership.h"

namespace svc::test {

// One thread. The managers are m0, m1, ...; none leads until the test says so.
class TestManagers {
  public:
    explicit TestManagers(std::size_t count, const std::function<void(server::Options&)>& change = {});
    ~TestManagers();
    TestManagers(const TestManagers&) = delete;
    TestManagers& operator=(const TestManagers&) = delete;

    void lead(std::size_t manager);           // in a new term; returns when it serves as leader
    void announce(std::size_t manager);       // as the leader of a new term, which it does not serve yet
    void let_lease_end(std::size_t manager);  // as far as it can tell; nobody else leads yet
    void nobody_leads();
    void kill(std::size_t manager);  // it ends, and the others hear of it
    ApiCaller& api(std::size_t manager) { return *managers_.at(manager)->api; }
    Target local_target(std::size_t manager) const;
    Target agent_target(std::size_t manager) const;
    Target tls_target(std::size_t manager, std::optional<KeyPair> identity = std::nullopt) const;
    Target managers_target(std::size_t manager, std::optional<KeyPair> identity) const;
    Target metrics_target(std::size_t manager) const;
    KeyPair cluster_keys() const;
    std::string bearer(const std::string& instance) const;
    std::filesystem::path path() const { return directory_.path(); }

  private:
    class Seat;
    struct TestManager {
        server::Options options;
        Seat* seat = nullptr;  // of the daemon
        std::shared_ptr<FakeMembership> membership;
        std::unique_ptr<server::Daemon> daemon;
        std::unique_ptr<ApiCaller> api;
    };
    void start(std::size_t manager);
    std::string address(std::size_t manager, std::string_view scheme) const;
    void introduce();
    void tell(std::optional<Leader> leader);

    TemporaryDirectory directory_;
    std::shared_ptr<SqliteStore> store_;
    std::function<void(server::Options&)> change_;
    std::uint64_t term_ = 0;
    std::vector<std::unique_ptr<TestManager>> managers_;
};

}  // namespace svc::test
