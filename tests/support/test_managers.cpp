#include "tests/support/test_managers.h"

#include <atomic>
#include <future>

#include "libsvc/services/trust/agent_tokens.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

namespace {

// The one store of all managers, which outlives each of them.
class SharedStore final : public Store {
  public:
    explicit SharedStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    std::optional<Entry> get(std::string_view key) override { return store_->get(key); }
    std::vector<Entry> list(std::string_view prefix) override { return store_->list(prefix); }
    void scan(std::string_view prefix, const std::function<void(Entry)>& take) override {
        store_->scan(prefix, take);
    }
    Revision commit(const Batch& batch) override { return store_->commit(batch); }
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override {
        return store_->watch(std::move(prefix), std::move(on_change));
    }

  private:
    std::shared_ptr<Store> store_;
};

// Watchers are told before a commit returns: every memory has what is stored.
class AtOnce final : public Progress {
  public:
    explicit AtOnce(std::shared_ptr<Store> store) : store_(std::move(store)) {}
    Revision revision() const override { return store_->commit(Batch()); }
    void await(Revision, Duration) override {}
    void catch_up() override {}

  private:
    std::shared_ptr<Store> store_;
};

}  // namespace

class TestManagers::Seat final : public server::Candidacy {
  public:
    Seat(std::shared_ptr<FakeMembership> membership, std::shared_ptr<Store> store)
        : membership_(std::move(membership)), progress_(std::move(store)) {}
    FakeMembership& membership() override { return *membership_; }
    Progress& progress() override { return progress_; }
    void campaign(const std::string&, const std::vector<std::string>&,
                  std::function<void(std::uint64_t)> lead) override {
        lead_ = std::move(lead);
    }
    bool leads() const override { return in_time_; }
    void resign() override {}
    void lose_time() { in_time_ = false; }
    void lead(std::uint64_t term) { lead_(term); }

  private:
    std::shared_ptr<FakeMembership> membership_;
    AtOnce progress_;
    std::function<void(std::uint64_t)> lead_;
    std::atomic<bool> in_time_{true};
};

TestManagers::TestManagers(std::size_t count, const std::function<void(server::Options&)>& change)
    : directory_(std::filesystem::temp_directory_path(), "svc-managers-"), change_(change) {
    make_directories(directory_.path());
    store_ = std::make_shared<SqliteStore>(directory_.path() / "shared.db");
    make_key_pair(directory_.path(), "cluster");
    AgentTokens(directory_.path() / "tokens.key", SystemClock()).issue("nobody");  // makes the file
    for (std::size_t manager = 0; manager < count; ++manager) {
        managers_.push_back(std::make_unique<TestManager>());
        start(manager);
    }
    introduce();
}

TestManagers::~TestManagers() = default;

void TestManagers::start(std::size_t manager) {
    TestManager& m = *managers_.at(manager);
    const std::string name = "m" + std::to_string(manager);
    m.options = test_options(directory_.path() / name);
    m.options.node_name = name;
    m.options.leader_patience = std::chrono::seconds(5);
    m.options.manager_listen = "127.0.0.1:0";
    if (change_) change_(m.options);
    log::set_level(m.options.log_level);
    const auto server = m.options.state_dir / "server";
    std::filesystem::create_directories(server);
    for (const char* file : {".crt", ".key"})
        std::filesystem::copy_file(directory_.path() / (std::string("cluster") + file),
                                   server / (std::string("server") + file),
                                   std::filesystem::copy_options::overwrite_existing);
    std::filesystem::copy_file(directory_.path() / "tokens.key", m.options.state_dir / "tokens.key",
                               std::filesystem::copy_options::overwrite_existing);
    m.membership = std::make_shared<FakeMembership>(Manager{name, name, "", "1", 1});
    auto seat = std::make_unique<Seat>(m.membership, store_);
    m.seat = seat.get();
    m.daemon = std::make_unique<server::Daemon>(
        m.options, server::ClusterSeams{std::make_unique<SharedStore>(store_), std::move(seat)});
    m.api = std::make_unique<ApiCaller>(local_target(manager));
}

// Each learns where the others are.
void TestManagers::introduce() {
    for (std::size_t manager = 0; manager < managers_.size(); ++manager) {
        if (!managers_[manager]->daemon) continue;
        const std::string name = "m" + std::to_string(manager);
        const Manager self{name, name, address(manager, "managers:"), "1", 1};
        for (const auto& other : managers_) other->membership->join(self);
    }
}

void TestManagers::tell(std::optional<Leader> leader) {
    for (const auto& manager : managers_) manager->membership->lead(leader);
}

void TestManagers::announce(std::size_t manager) {
    ++term_;
    tell(Leader{"m" + std::to_string(manager), term_});
}

void TestManagers::lead(std::size_t manager) {
    announce(manager);
    managers_.at(manager)->seat->lead(term_);
}

void TestManagers::let_lease_end(std::size_t manager) {
    managers_.at(manager)->seat->lose_time();
}

void TestManagers::nobody_leads() {
    tell(std::nullopt);
}

void TestManagers::kill(std::size_t manager) {
    TestManager& m = *managers_.at(manager);
    m.api.reset();
    m.daemon.reset();
    m.seat = nullptr;
    for (const auto& other : managers_) other->membership->leave("m" + std::to_string(manager));
}

std::string TestManagers::address(std::size_t manager, std::string_view scheme) const {
    for (const std::string& address : managers_.at(manager)->daemon->addresses())
        if (address.starts_with(scheme) && !address.ends_with("/1.0/metrics"))
            return scheme == "managers:" ? address.substr(scheme.size()) : address;
    throw Error(ErrorCode::not_found, "the daemon listens on no " + std::string(scheme));
}

Target TestManagers::local_target(std::size_t manager) const {
    Target target;
    target.unix_path = managers_.at(manager)->options.socket;
    return target;
}

Target TestManagers::agent_target(std::size_t manager) const {
    Target target;
    target.unix_path = managers_.at(manager)->options.state_dir / "agent" / "server.unix";
    return target;
}

Target TestManagers::tls_target(std::size_t manager, std::optional<KeyPair> identity) const {
    Target target = Target::parse(address(manager, "https:"));
    target.server_fingerprint = managers_.at(manager)->daemon->tls_fingerprint();
    target.identity = std::move(identity);
    return target;
}

Target TestManagers::managers_target(std::size_t manager, std::optional<KeyPair> identity) const {
    Target target = Target::parse("https://" + address(manager, "managers:"));
    target.server_fingerprint = managers_.at(manager)->daemon->tls_fingerprint();
    target.identity = std::move(identity);
    return target;
}

Target TestManagers::metrics_target(std::size_t manager) const {
    return Target::parse(address(manager, "http:"));
}

KeyPair TestManagers::cluster_keys() const {
    return {directory_.path() / "cluster.crt", directory_.path() / "cluster.key"};
}

std::string TestManagers::bearer(const std::string& instance) const {
    const SystemClock clock;
    return "bearer " + AgentTokens(managers_.at(0)->options.state_dir / "tokens.key", clock).issue(instance);
}

}  // namespace svc::test
