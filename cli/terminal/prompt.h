#pragma once
// Questions before something is lost.
#include <string>
#include <vector>

#include "cli/terminal/console.h"

namespace svc::cli {

// Lists what will be removed and asks on `err`; an empty answer is yes. Asks again after an unclear one.
// Answers may come from a pipe; the end of input is no. Throws `cancelled` "aborted" unless the answer is
// yes.
void confirm_removal(const Console& console, const std::vector<std::string>& items);

// "<question> [Y/n]:"; throws `cancelled` unless the answer is yes.
void confirm(const Console& console, const std::string& question);

}  // namespace svc::cli
