#pragma once
// Runs programs of packages, which are not trusted: they may hang, fork, flood their output, or leave daemons
// behind.
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/files/bounded_file.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/processes/process.h"

namespace svc::agent {

struct Program {
    std::vector<std::string> arguments;    // [0] is an absolute path
    std::vector<std::string> environment;  // "KEY=value"
    std::filesystem::path directory;       // the working directory
    Duration limit{};
};

struct ProgramEnd {
    ExitStatus status;
    bool timed_out = false;
    bool stopped = false;   // killed because `stop` was requested
    std::string last_line;  // the last line of the output: at most 200 bytes, without control characters
    bool succeeded() const { return status.code == 0 && !timed_out && !stopped; }
    std::string reason() const;  // "exit status 1: <last line>", "killed by signal 9"
};

// Runs the program in a session of its own and waits for its end; stdout and stderr go to `output`. Processes
// that the program leaves behind live on; their output is read and dropped. At the time limit, or when `stop`
// is requested, the process group gets SIGTERM; 2 s later the group and every process that holds its output
// get SIGKILL. Throws Error when the program cannot be started.
ProgramEnd run_program(const Program& program, BoundedFile& output, std::stop_token stop);

}  // namespace svc::agent
