#pragma once
// How many files a daemon may have open.

namespace svc::process {

// Raises the soft limit to the hard one and logs it; programs that this process starts get what it had
// itself. Before there is a second thread.
void raise_file_limit();

}  // namespace svc::process
