#pragma once
// The limit of open files of a daemon.
#include <cstddef>

namespace svc::process {

// Raises the soft limit to the hard one, and logs it. Programs that this process starts get the old limit.
// Call it before there is a second thread.
void raise_file_limit();
// How many files this process may have open now.
std::size_t file_limit();

}  // namespace svc::process
