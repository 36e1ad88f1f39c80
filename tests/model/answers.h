#pragma once
// The answers that the specification and docs/errors.md allow for each kind of call, whatever the others do.
#include "tests/model/history.h"

namespace svc::test {

// Adds a finding for a status, an error or an envelope that is not allowed.
void check_answer(const ModelCall& call, Findings& findings);

}  // namespace svc::test
