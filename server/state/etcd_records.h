#pragma once
// The records of a cluster, for the tools: check, export, import.
#include <memory>
#include <string>

#include "libsvc/store/etcd/record_import.h"
#include "server/state/records.h"

namespace svc::server::state {

// As of one revision. Throws conflict while an import has not ended.
StoredValues read_etcd(const EtcdOptions& options);

// Throws conflict while an import has not ended: nobody may use half of its records.
void refuse_unfinished_import(const EtcdOptions& options);

// Makes an empty etcd have the records of a backup. One thread.
class EtcdImport {
  public:
    // From here to finish() no manager starts on this etcd. `name`: who may go on after a crash. Throws
    // conflict, with what is there, for an etcd that is not empty.
    EtcdImport(const EtcdOptions& options, const std::string& name);
    void finish(const StoredValues& values);

  private:
    SystemClock clock_;
    etcd::Cluster cluster_;
    etcd::RecordImport import_;
};

}  // namespace svc::server::state
