#pragma once
// Commands in simulated containers: echo, cat, true, false, sleep, and `svc-agent connect`, which leads to a
// streamer where there is one. Each runs on a thread of this process.
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/runtime/runtime.h"

namespace svc {

// Answers a line that was sent to it. `send` is false when nobody takes the bytes any more.
using SimulatedStreamer =
    std::function<void(const std::string& line, const std::function<bool(std::string_view)>& send)>;

// A running command and its ends of the streams. Thread-safe.
class SimulatedCommand {
  public:
    SimulatedCommand(Clock& clock, ExecSpec spec, SimulatedStreamer streamer, FileDescriptor input,
                     FileDescriptor output, FileDescriptor errors);
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
    int connect();
    std::string read_line();
    bool write(std::string_view data);
    bool wait_for(int fd, short events);  // false: the command was ended

    Clock& clock_;
    ExecSpec spec_;
    const SimulatedStreamer streamer_;
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
                                                     const SimulatedStreamer& streamer,
                                                     std::weak_ptr<SimulatedCommand>& started);

}  // namespace svc
