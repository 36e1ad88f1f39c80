#pragma once
// What tells other managers of this one: its record, and its name, which no other living one has.
#include <functional>

#include "libsvc/store/etcd/keys.h"
#include "libsvc/store/etcd/lease.h"
#include "libsvc/store/etcd/members.h"

namespace svc::etcd {

// For the thread that keeps the lease.
class Presence {
  public:
    Presence(Cluster& cluster, const EtcdOptions& options, const Members& members, const Lease& lease);

    // The machine has heard of a newer leader than the record says.
    bool is_outdated() const { return !members_.self().address.empty() && term() > told_term_; }
    // Puts the keys, with the lease as it is now. An earlier process of the same manager gives way. Throws
    // conflict while another manager that lives has the name.
    void announce();

  private:
    bool put(const Manager& self);
    std::uint64_t term() const { return known_term_ ? known_term_() : 0; }
    Revision revision_of_own(const Page& name) const;
    void refuse_namesake(const Manager& other) const;

    Cluster& cluster_;
    const Keys keys_;
    const std::string name_setting_;
    const std::function<std::uint64_t()> known_term_;
    const Members& members_;
    const Lease& lease_;
    Revision name_ = 0;  // of the key of the name, as far as this process knows
    std::uint64_t told_term_ = 0;
};

}  // namespace svc::etcd
