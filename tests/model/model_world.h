#pragma once
// A daemon with the simulated runtime, what random clients use, and the checks of a whole run.
#include <string>
#include <vector>

#include "tests/model/event_follower.h"
#include "tests/model/random_client.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

struct ModelRun {
    std::uint64_t seed = 0;
    int clients = 8;
    int calls = 100;                     // of each client
    std::vector<std::string> etcd = {};  // endpoints; empty: records in SQLite
};

// Does the run, and returns what the model does not allow.
std::vector<std::string> run_model(const ModelRun& run);

}  // namespace svc::test
