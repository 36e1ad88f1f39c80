#pragma once
// What holds of records at every moment, whoever looks at them.
#include "tests/model/history.h"

namespace svc::test {

// Looks at what a call was told: one record, or a list.
void check_records(const ModelCall& call, Findings& findings);
// Instances that are there at one moment: no address and no node port twice.
void check_shares(const std::vector<Json>& instances, const std::string& where, Findings& findings);

}  // namespace svc::test
