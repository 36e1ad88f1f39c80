#pragma once
// Commands in simulated containers: echo, cat, true, false, sleep. Each runs on a thread of this process.
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// A running command and its ends of the streams. Thread-safe.
class SimulatedCommand {
  public:
    SimulatedCommand(Clock& clock, ExecSpec spec, FileDescriptor input, FileDescriptor output,
                     FileDescriptor errors);
    ~SimulatedCommand();  // ends the command
    int ended() const { return ended_.get(); }
    int exit_code() const { return exit_code_; }
    bool unknown() const { return unknown_; }  // the simulation has no such command
    void end(int exit_code);  // ends it as a signal or the stop of the container would, with this code

  private:
    void run();
    int answer();
    int echo();
    int copy_input();
    int sleep();
    bool write(std::string_view data);
    bool wait_for(int fd, short events);  // false: the command was ended

    Clock& clock_;
    ExecSpec spec_;
    FileDescriptor input_, output_, errors_;
    FileDescriptor ended_, interrupt_;
    std::atomic<int> forced_code_{-1};
    std::atomic<int> exit_code_{0};
    std::atomic<bool> unknown_{false};
    std::stop_source stop_;
    std::jthread thread_;
};

// Makes the streams and starts the command. Sets `started`, with which the container ends the command when it
// stops.
std::unique_ptr<ExecProcess> start_simulated_command(Clock& clock, const ExecSpec& spec,
                                                     std::weak_ptr<SimulatedCommand>& started);

}  // namespace svc
