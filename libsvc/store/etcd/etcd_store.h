#pragma once
// The store of a cluster: records in etcd, by its JSON gateway. docs/store-etcd.md tells keys, states and
// errors.
#include <memory>

#include "libsvc/base/clock.h"
#include "libsvc/store/etcd/counts.h"
#include "libsvc/store/etcd/options.h"
#include "libsvc/store/membership.h"
#include "libsvc/store/progress.h"
#include "libsvc/store/store.h"

namespace svc {

// Thread-safe. Reads are linearizable. Reads and commits go on at another member when one fails, and throw
// StoreUnavailable after options.patience; whether a commit that failed so was stored is then not known.
// It opens as a follower, which reads and watches; its commit() throws unavailable without asking etcd. Then
// either lead() is called, or join() and campaign(), once.
class EtcdStore final : public Store, public Progress {
  public:
    // Throws invalid_argument for addresses and certificates that cannot be used, unavailable when no member
    // answers, unsupported for what cannot be used as etcd (etcd::Cluster), and when the records are of a
    // newer schema than options.schema. Changes nothing in etcd.
    EtcdStore(const EtcdOptions& options, Clock& clock);
    // Whoever led gives it back: another manager may lead at once.
    ~EtcdStore() override;

    // This manager leads, as the only one. Throws busy while another one does, unsupported while one of an
    // older version lives. It stays so until another one
    // takes over after the lease has ended.
    void lead();
    // One of several managers, which others reach at that address; `api` as in Manager. Throws unavailable,
    // conflict while another one that lives has its name, and unsupported when newer managers have raised the
    // schema of the records meanwhile.
    void join(std::string address, std::vector<std::string> api = {});
    // From now on, takes the lead whenever nobody has it and all managers know what this one writes:
    // on_leading tells.
    void campaign();
    // False also while the lease may be over, as far as this manager can tell: it must not begin anything
    // that other machines would notice. Reads memory only.
    bool leads() const;
    Membership& membership();
    EtcdCounts counts() const;

    // The identity of the cluster, which every manager may make.
    std::optional<Entry> identity();
    // False: it has another revision (0: it exists).
    bool set_identity(std::string_view value, Revision expected);

    std::optional<Entry> get(std::string_view key) override;
    std::vector<Entry> list(std::string_view prefix) override;
    void scan(std::string_view prefix, const std::function<void(Entry)>& take) override;
    // Throws unavailable unless this manager leads, unsupported for a batch that is too large for etcd
    // besides. The revision that it returns is one that Progress::await() of another manager understands.
    Revision commit(const Batch& batch) override;
    std::unique_ptr<Subscription> watch(std::string prefix, OnChange on_change) override;

    Revision revision() const override;
    void await(Revision revision, Duration patience) override;
    void catch_up() override;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc
