#pragma once
// Carries the streams of one running command between its descriptors and the sockets of its session.
#include <poll.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "libsvc/services/exec/exec_session.h"

namespace svc {

// One thread, in which SIGPIPE must be blocked.
class ExecPump {
  public:
    ExecPump(ExecSession& session, ExecProcess& process);
    int run();  // returns the exit code when the command has ended and its output is with the channels

  private:
    // One output of the command and where it goes.
    struct Output {
        int fd = -1;  // -1: at its end
        std::shared_ptr<ExecChannel> channel;
        bool throttled = false;
    };
    enum Slot { wake, ended, input, first_output, slots = first_output + 2 };

    void follow_orders();
    void prepare(std::array<pollfd, slots>& polled);
    bool may_block() const;
    void read_wake() const;
    void write_input();
    void read_output(Output& output);
    bool has_output() const;

    ExecSession& session_;
    ExecProcess& process_;
    std::vector<Output> outputs_;
    std::string input_;
    std::size_t written_ = 0;
    bool input_open_ = true;
    bool end_input_ = false;
    bool ended_ = false;
    std::vector<char> block_;
};

}  // namespace svc
