#pragma once
// Questions before a command removes something.
#include <string>
#include <vector>

#include "cli/terminal/console.h"

namespace svc::cli {

// Lists what will be removed and asks on `err`. An empty answer is yes, the end of input is no; an unclear
// answer is asked again. Input may be a pipe. Throws `cancelled` "aborted" unless the answer is yes.
void confirm_removal(const Console& console, const std::vector<std::string>& items);

// "<question> [Y/n]:"; the question alone; throws `cancelled` unless the answer is yes.
void confirm(const Console& console, const std::string& question);

}  // namespace svc::cli
