#pragma once
// The store of a cluster: records in etcd, by its JSON gateway. docs/store-etcd.md tells keys, states and
// errors.
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/store/etcd/options.h"
#include "libsvc/store/store.h"

namespace svc {

// Thread-safe. Reads are linearizable. Reads and commits go on at another member when one fails, and throw
// unavailable after options.patience; whether a commit that failed so was stored is then not known.
class EtcdStore final : public Store {
  public:
    // Throws invalid_argument for addresses and certificates that cannot be used, unavailable when no member
    // answers as etcd does, busy while another manager works on these records.
    EtcdStore(const EtcdOptions& options, Clock& clock);
    ~EtcdStore() override;
    std::optional<Entry> get(std::string_view key) override;
    std::vector<Entry> list(std::string_view prefix) override;
    void scan(std::string_view prefix, const std::function<void(Entry)>& take) override;
    // Throws unsupported for a batch that is too large for etcd besides.
    Revision commit(const Batch& batch) override;
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
