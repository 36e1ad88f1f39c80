#pragma once
// Runs what packages bring along, and trusts it in nothing: it may hang, fork, flood its output, or leave
// daemons behind.
#include <filesystem>
#include <stop_token>
#include <string>
#include <vector>

#include "instance-agent/agent/processes/bounded_file.h"
#include "libsvc/base/clock.h"
#include "libsvc/base/process.h"

namespace svc::agent {

struct Program {
    std::vector<std::string> arguments;    // [0] is an absolute path
    std::vector<std::string> environment;  // "KEY=value"
    std::filesystem::path directory;       // to start in
    Duration limit{};
};

struct ProgramEnd {
    ExitStatus status;
    bool timed_out = false;
    bool stopped = false;   // because `stop` was requested
    std::string last_line;  // of its output: without control characters, at most 200 bytes
    bool succeeded() const { return status.code == 0 && !timed_out && !stopped; }
    std::string reason() const;  // "exit status 1: <last line>", "killed by signal 9"
};

// Runs to the end of the program itself, in a session of its own; standard output and errors go to `output`.
// Processes it leaves behind live on, and what they write is read and dropped. At the limit, or when `stop`
// is requested, its group gets SIGTERM, 2 s later SIGKILL together with all that hold its output.
// Throws Error when it cannot be started.
ProgramEnd run_program(const Program& program, BoundedFile& output, std::stop_token stop);

}  // namespace svc::agent
