// Random clients at the same time: every answer, every event and the end are such as the specification
// allows.
//
// SVC_MODEL_SEED=<n>      the calls of that seed again
// SVC_MODEL_SECONDS=<n>   further seeds until so much time is over
// SVC_MODEL_CLIENTS (8), SVC_MODEL_CALLS (150 of each; with etcd 60)
// SVC_MODEL_SUMMARY=1     prints how the calls were answered
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <thread>

#include "tests/model/model_world.h"
#include "tests/support/etcd_process.h"
#include "tests/support/tcp_relay.h"

namespace svc::test {

namespace {

constexpr int default_runs = 3;
constexpr std::size_t most_shown = 30;

std::uint64_t number_of(const char* variable, std::uint64_t otherwise) {
    const char* const text = std::getenv(variable);
    return text == nullptr ? otherwise : std::stoull(text);
}

void run(std::uint64_t seed, std::vector<std::string> etcd = {}) {
    ModelRun run;
    run.seed = seed;
    run.etcd = std::move(etcd);
    run.clients = static_cast<int>(number_of("SVC_MODEL_CLIENTS", 8));
    run.calls = static_cast<int>(number_of("SVC_MODEL_CALLS", run.etcd.empty() ? 150 : 60));
    std::cout << "SVC_MODEL_SEED=" << seed << std::endl;
    const auto findings = run_model(run);
    for (std::size_t i = 0; i < std::min(findings.size(), most_shown); ++i)
        std::cout << "not allowed: " << findings[i] << std::endl;
    CAPTURE(seed);
    CHECK(findings.empty());
}

// An etcd whose answers to commits are lost, and whose connections break, again and again.
class BadNetwork {
  public:
    explicit BadNetwork(const EtcdCluster& etcd) : relay_(Target::parse(etcd.endpoints()[0])) {
        relay_.lose_answers_to("POST /v3/kv/txn", 4);
    }
    std::string endpoint() const { return relay_.endpoint(); }

  private:
    void disturb(const std::stop_token& stop) {
        while (clock_.wait(stop, std::chrono::seconds(1))) {
            relay_.cut();
            relay_.mend();
        }
    }

    SystemClock clock_;
    TcpRelay relay_;
    std::jthread thread_{[this](const std::stop_token& stop) { disturb(stop); }};
};

std::uint64_t chosen_seed() {
    std::random_device random;
    return number_of("SVC_MODEL_SEED", random() % 1'000'000);
}

}  // namespace

TEST_CASE("what random clients are told is the same with the records in etcd") {
    skip_unless_etcd();
    const EtcdCluster etcd;
    run(chosen_seed(), etcd.endpoints());
}

TEST_CASE("what random clients are told is the same when the network to etcd loses answers") {
    skip_unless_etcd();
    const EtcdCluster etcd;
    const BadNetwork network(etcd);
    run(chosen_seed(), {network.endpoint()});
}

TEST_CASE("what random clients are told at the same time is what the specification allows") {
    if (std::getenv("SVC_MODEL_SEED") != nullptr) return run(number_of("SVC_MODEL_SEED", 0));
    const auto end =
        std::chrono::steady_clock::now() + std::chrono::seconds(number_of("SVC_MODEL_SECONDS", 0));
    std::random_device random;
    for (int i = 0; i < default_runs || std::chrono::steady_clock::now() < end; ++i)
        run(random() % 1'000'000);
}

}  // namespace svc::test
