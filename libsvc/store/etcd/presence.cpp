#include "libsvc/store/etcd/presence.h"

#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/store/etcd/members_json.h"

namespace svc::etcd {

namespace {

constexpr int max_puts = 10;  // each needs somebody else to have come or gone

}  // namespace

Presence::Presence(Cluster& cluster, const EtcdOptions& options, const Members& members, const Lease& lease)
    : cluster_(cluster),
      keys_(options.root),
      name_setting_(options.name_setting),
      known_term_(options.known_term),
      members_(members),
      lease_(lease) {}

// A manager of an older version has no key for its name, but its record.
void Presence::announce() {
    const Manager self = members_.self();
    if (self.address.empty()) return;
    for (const Manager& other : members_.managers()) refuse_namesake(other);
    for (int i = 0; i < max_puts; ++i)
        if (put(self)) return;
    throw Error(ErrorCode::unavailable, "several managers want the name " + self.name);
}

// False: the key of the name is another than expected, and this manager may take it.
bool Presence::put(const Manager& self) {
    const std::uint64_t term = this->term();
    const std::string name = keys_.name(self.name), text = manager_text(self, term);
    Transaction transaction;
    transaction.put(keys_.managers() + self.id, text, lease_.id());
    if (!name_setting_.empty()) {
        transaction.expect(name, name_);
        transaction.put(name, text, lease_.id());
        transaction.if_refused(range_request({name, ""}));
    }
    const auto reply = read_transaction(cluster_.call(transaction_path, transaction.request()));
    name_ = reply.succeeded ? reply.revision : revision_of_own(reply.read.at(0));
    if (reply.succeeded) told_term_ = term;
    return reply.succeeded;
}

Revision Presence::revision_of_own(const Page& name) const {
    if (name.entries.empty()) return 0;
    const auto holder = read_manager(name.entries[0].value);
    if (!holder) throw Error(ErrorCode::conflict, quoted(name.entries[0].key) + " in etcd cannot be read");
    refuse_namesake(*holder);
    return name.entries[0].revision;
}

void Presence::refuse_namesake(const Manager& other) const {
    const Manager self = members_.self();
    if (name_setting_.empty() || other.name != self.name || other.id == self.id) return;
    throw Error(ErrorCode::conflict, "another manager named " + other.name + " lives at " + other.address +
                                         ": give this one another " + name_setting_);
}

}  // namespace svc::etcd
