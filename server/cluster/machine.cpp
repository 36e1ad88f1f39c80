#include "server/cluster/machine.h"

#include <utility>

#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/store/store_unavailable.h"

namespace svc::server {

Machine::Machine(MachineParts parts)
    : leads_(std::move(parts.leads)),
      on_overtaken_(std::move(parts.on_overtaken)),
      guard_(parts.term_file),
      events_(parts.runtime),
      api_({parts.runtime, parts.layers, events_, guard_, parts.identity, parts.packages}),
      cluster_(runtime_parts(parts)),
      raised_(guard_.on_raise([this](std::uint64_t term) { follow(term); })) {}

ClusterRuntimeParts Machine::runtime_parts(const MachineParts& parts) {
    ClusterRuntimeParts made{parts.membership, parts.runtime,  parts.layers,
                             events_,          parts.identity, parts.clock};
    made.on_call = parts.on_call;
    made.may_begin = [this] { check_lead(); };
    made.enter = [this](std::uint64_t term) { return enter(term); };
    made.on_outdated = [this](const std::string& node, std::uint64_t term) { raise_to(node, term); };
    return made;
}

void Machine::check_lead() const {
    if (!leads_())
        throw StoreUnavailable(
            "etcd does not renew this manager's lease: it cannot tell whether it still leads");
}

std::shared_ptr<void> Machine::enter(std::uint64_t term) {
    check_lead();
    return guard_.enter(term);
}

void Machine::lead(std::uint64_t term) {
    guard_.raise(term);
    term_ = term;
    cluster_.lead(term);
}

// Another manager leads without its noticing; or none does, since etcd was restored from a backup: then all
// nodes would refuse it for ever. The next leader's term is higher than what is stored here.
void Machine::raise_to(const std::string& node, std::uint64_t term) {
    log::error("a node refuses this leader, whose term is too low",
               {{"node", node}, {"its term", std::to_string(term)}, {"term", std::to_string(term_)}});
    try {
        guard_.raise(term);
    } catch (const Error& e) {
        log::error("the term of a newer leader cannot be stored", {{"error", e.what()}});
    }
}

// Its lease has ended without its noticing. What it still does here would mix with what the other one does.
void Machine::follow(std::uint64_t term) {
    const std::uint64_t own = term_;
    if (own != 0 && own < term && on_overtaken_) on_overtaken_();
}

}  // namespace svc::server
