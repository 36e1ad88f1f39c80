#pragma once
// The lead among managers that have their records in one etcd.
#include <memory>
#include <string>

#include "libsvc/store/etcd/etcd_store.h"
#include "server/cluster/candidacy.h"

namespace svc::server {

// Hears of the lead from the store's thread, before and after there is a candidacy. Thread-safe.
class LeadNews {
  public:
    LeadNews();
    ~LeadNews();                       // waits for the call that runs
    void leading(std::uint64_t term);  // for EtcdOptions::on_leading
    void call(std::function<void(std::uint64_t)> lead);
    void end();  // waits for the call that runs; none begins any more

  private:
    struct State;
    std::unique_ptr<State> state_;
};

class EtcdCandidacy final : public Candidacy {
  public:
    // `store` outlives it. `news` gets the store's on_leading.
    EtcdCandidacy(EtcdStore& store, std::shared_ptr<LeadNews> news);
    Membership& membership() override { return store_.membership(); }
    Progress& progress() override { return store_; }
    void campaign(const std::string& address, const std::vector<std::string>& api,
                  std::function<void(std::uint64_t)> lead) override;
    bool leads() const override { return store_.leads(); }
    void resign() override;

  private:
    EtcdStore& store_;
    std::shared_ptr<LeadNews> news_;
};

}  // namespace svc::server
