#pragma once
// What is there at the end of a run, and whether all of it can be given back.
#include <map>
#include <string>
#include <vector>

#include "tests/model/history.h"
#include "tests/support/test_daemon.h"

namespace svc::test {

using Leftovers = std::map<std::string, std::vector<Json>>;  // records by noun

Leftovers leftovers_of(ApiCaller& api);
// Deletes all objects; then capacity, addresses, ports and files are as in a new daemon.
void remove_everything(TestDaemon& daemon, Findings& findings);

}  // namespace svc::test
