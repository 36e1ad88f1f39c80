#pragma once
// svc-agent files: the instance's end of `svcctl file` (docs/files.md). What a client tells on standard input
// and reads on standard output.
#include <string>
#include <vector>

namespace svc::agent {

// look PATH | list PATH | list-all PATH: a line for each file (tree_line()): PATH alone, what is in it, all.
// send PATH: standard input has such lines of files that the client has; standard output is a tar stream.
// take UID GID PATH: standard input is a tar stream.
// Returns 0, or 3 for what is not there. Throws invalid_argument for wrong usage, and what
// libsvc/formats/tree_stream.h throws.
int run_files(const std::vector<std::string>& words);

}  // namespace svc::agent
