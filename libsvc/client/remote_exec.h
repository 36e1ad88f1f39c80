#pragma once
// A command in an instance: its streams on WebSockets, its exit status in the operation.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/client/api_client.h"
#include "libsvc/model/instances/instance.h"

namespace svc {

struct RemoteExecResult {
    std::optional<int> status;  // of the command: exit code, or 128 + signal; nothing: the command was not
                                // run, or its status is not known
    bool lost = false;          // a connection broke before the end; the service then kills the command
    std::string error;          // why it could not be run ("Command not found"), else ""
};

// The command starts when the constructor has connected all streams. The destructor closes them, which kills
// a command that still runs. One thread may call run(), one thread may send input, any thread signals and
// sizes.
class RemoteExec {
  public:
    // Throws what the service answers, and `unavailable`.
    RemoteExec(ApiClient& client, std::string_view instance, const ExecRequest& request);
    ~RemoteExec();
    RemoteExec(const RemoteExec&) = delete;
    RemoteExec& operator=(const RemoteExec&) = delete;

    void send_input(
        std::string_view data);  // blocks while the command does not read; throws unavailable when closed
    void end_input();            // the command sees the end of its input; harmless when closed
    void resize(unsigned width, unsigned height);  // of the terminal; harmless when closed, as is the next
    void send_signal(int number);

    // Delivers output (stream 1, of non-interactive sessions also 2) until the command's end. Calls for
    // different streams come from different threads. What `output` throws ends the session and leaves run().
    RemoteExecResult run(const std::function<void(int stream, std::string_view data)>& output);
    void abort() noexcept;  // breaks all connections; from any thread

  private:
    struct Stream;
    void receive(Stream& stream, const std::function<void(int, std::string_view)>& output);
    void send_control(const Json& message);
    RemoteExecResult result();

    ApiClient& client_;
    const bool interactive_;
    std::string operation_;
    std::unique_ptr<Stream> control_, input_, output_,
        errors_;  // interactive: `input_` carries the output too
};

}  // namespace svc
