#pragma once
// One etcd for all test cases of the program, and options for a part of its keys.
#include "libsvc/base/clock.h"
#include "libsvc/store/etcd/etcd_store.h"
#include "tests/support/etcd_process.h"

namespace svc::test {

// Skips the test case where etcd is not installed. Starts it with the first call.
EtcdCluster& shared_etcd();

// Of a manager of its own, below keys that no other call has got; not exclusive, quick to notice faults.
EtcdOptions etcd_options(const std::vector<std::string>& endpoints);

// On the same keys.
EtcdOptions another_manager(EtcdOptions options, const std::string& mark = "b");

Clock& system_clock();

}  // namespace svc::test
