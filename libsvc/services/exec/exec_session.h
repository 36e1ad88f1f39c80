#pragma once
// One exec session: its streams, what their clients send, and the thread that carries the command's data.
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "libsvc/base/error.h"
#include "libsvc/base/file.h"
#include "libsvc/base/once.h"
#include "libsvc/base/timer.h"
#include "libsvc/operations/engine.h"
#include "libsvc/runtime/runtime.h"
#include "libsvc/services/exec/exec_stream.h"

namespace svc {

// Orders for the thread of a command: what it does next. take_orders() takes all of them at once.
struct ExecOrders {
    std::vector<int> signals;
    std::optional<std::pair<unsigned, unsigned>> size;
    std::string input;       // the next piece, when asked for
    bool end_input = false;  // nothing follows `input`
};

struct ExecSessionParts {
    Runtime& runtime;
    Timer& timer;
    std::string container;
    ExecSpec spec;
    std::map<std::string, std::string> secrets;  // by stream: "0", "1", "2", "control"
    // Called with the exit code before the operation fails because the command could not be run.
    std::function<void(int exit_code)> keep_code;
    std::function<void()> finished;         // the last call; from any thread, also the session's
    std::function<bool()> distrusted = {};  // see ExecService::start()
    std::shared_ptr<void> use = {};         // kept as long as the session
};

// Thread-safe. Must not be destroyed by its own thread.
class ExecSession : public std::enable_shared_from_this<ExecSession> {
  public:
    explicit ExecSession(ExecSessionParts parts);
    ~ExecSession();

    // Called when the operation is running: from now on, the sockets may start the command.
    void run(std::shared_ptr<OperationCompletion> completion);
    void cancel();
    // The stream that `secret` opens, reserved until release().
    std::shared_ptr<ExecStream> connect(std::string_view secret);
    void attach(const std::string& stream, std::shared_ptr<ExecChannel> channel);

    // From the sockets.
    void take_data(const std::string& stream, std::string bytes);
    void take_text(const std::string& stream, const std::string& message);
    void drained();
    void closed(const std::string& stream, ExecEnd end);
    void release(const std::string& stream);  // frees a stream that was connected but never attached

    // For the thread of the command.
    int wake_descriptor() const { return wake_.get(); }
    ExecOrders take_orders(bool with_input);
    // Whether drained() is to wake the thread. It says yes before it looks how full the channels are.
    void await_room(bool wanted) { awaits_room_ = wanted; }
    std::shared_ptr<ExecChannel> channel(const std::string& stream) const;
    bool distrusted() const { return parts_.distrusted && parts_.distrusted(); }
    bool terminal() const { return parts_.spec.terminal; }

  private:
    using End = std::function<void(OperationCompletion&)>;
    struct Socket {
        std::string secret;
        bool connected = false;
        bool attached = false;  // once, even if it is closed by now
        std::shared_ptr<ExecChannel> channel;
    };
    void start_when_ready(std::unique_lock<std::mutex> lock);
    void give_up(const std::string& reason);
    void carry();
    void conclude(const End& end);
    void fail(const Error& error);
    void complete(int exit_code, bool ran);
    void take_control(const std::string& message);
    void kill_locked();
    void wake() const;

    ExecSessionParts parts_;
    FileDescriptor wake_;
    mutable std::mutex mutex_;
    std::map<std::string, Socket> sockets_;
    std::deque<std::string> input_;
    std::size_t input_bytes_ = 0;
    bool input_ended_ = false;
    bool input_paused_ = false;
    std::atomic<bool> awaits_room_{false};
    std::vector<int> signals_;
    std::optional<std::pair<unsigned, unsigned>> size_;
    std::shared_ptr<OperationCompletion> completion_;
    Once<const End&> finish_{[this](const End& end) { conclude(end); }};
    End end_;  // set when the session is over before run() is called
    Timer::Ticket timeout_ = 0;
    bool carrying_ = false;
    bool cancelled_ = false;
    std::jthread thread_;
};

}  // namespace svc
