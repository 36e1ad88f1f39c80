#pragma once
// One machine of a cluster: what it offers the leader, and how it runs containers on all machines when it
// leads (docs/managers.md, "Nodes").
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/cluster/cluster_runtime.h"
#include "libsvc/cluster/node_api.h"
#include "libsvc/store/membership.h"

namespace svc::server {

struct MachineParts {
    Membership& membership;
    Runtime& runtime;  // of this machine
    LayerStore& layers;
    PeerIdentity identity;
    std::filesystem::path term_file;  // keeps the newest leader's term
    std::filesystem::path packages;   // a folder for those that are on their way
    Clock& clock;
    std::function<bool()> leads;  // as Candidacy has it
    // This machine follows a newer leader than the one it is itself.
    std::function<void()> on_overtaken;
    // As ClusterRuntimeParts has it.
    std::function<void(const std::string& node, bool answered)> on_call = {};
};

// Thread-safe. What `parts` refers to outlives it. Is the listener of the runtime's events.
class Machine {
  public:
    explicit Machine(MachineParts parts);
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;

    // Of all machines once this one leads; of this one alone until then.
    Runtime& runtime() { return cluster_.runtime(); }
    LayerStore& layers() { return cluster_.layers(); }
    std::vector<Route> routes() { return api_.routes(); }
    // This manager leads. Throws conflict when this machine follows a newer leader already.
    void lead(std::uint64_t term);
    // What changes something here in the name of this leader runs while the returned value exists. Throws
    // unavailable where another manager may lead by now, and conflict where this machine follows one.
    std::shared_ptr<void> enter(std::uint64_t term);
    TermGuard& guard() { return guard_; }  // of what others ask of this machine
    void stop() { api_.stop(); }           // before the server of the routes stops

  private:
    ClusterRuntimeParts runtime_parts(const MachineParts& parts);
    void check_lead() const;
    void follow(std::uint64_t term);
    void raise_to(const std::string& node, std::uint64_t term);

    const std::function<bool()> leads_;
    const std::function<void()> on_overtaken_;
    std::atomic<std::uint64_t> term_{0};  // of this manager as the leader
    TermGuard guard_;
    RuntimeEvents events_;
    NodeApi api_;
    ClusterRuntime cluster_;
    std::shared_ptr<void> raised_;  // last: its calls use the rest
};

}  // namespace svc::server
