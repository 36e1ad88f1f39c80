#pragma once
// Fills an empty etcd with the records of a backup. Nobody sees half of them: while the key `importing` is
// there, no manager starts.
#include <cstddef>
#include <map>
#include <string>

#include "libsvc/store/etcd/keys.h"

namespace svc::etcd {

// One thread. An import that was killed is begun again by another one with the same name.
class RecordImport {
  public:
    // `name` is kept in etcd until the end. Throws conflict, with what is there, where the root is not empty
    // and was not left by an import of this name.
    RecordImport(Cluster& cluster, std::string root, std::string name);
    // Throws conflict where a manager has come in between.
    void put(const std::map<std::string, std::string>& records);
    // Managers may start which know that schema of records.
    void finish(int schema);

  private:
    void take();
    void commit(Transaction transaction);

    Cluster& cluster_;
    const Keys keys_;
    const std::string name_;
    Revision mark_ = 0;  // of the key `importing`
};

// Throws conflict while an import has not ended. For whoever is about to use the records.
void refuse_during_import(Cluster& cluster, const Keys& keys);
// All records at one revision, by key.
std::map<std::string, Entry> read_records(Cluster& cluster, const Keys& keys);

}  // namespace svc::etcd
