#pragma once
// An HTTP call whose reply goes on for ever: read piece by piece, ended by either side or from another
// thread.
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "libsvc/net/client/target.h"
#include "libsvc/net/http/client_message.h"

namespace svc {

// One thread reads; interrupt() is for any thread.
class StreamedCall {
  public:
    // Connects, sends the request and reads the header of the reply. request.timeout is of each step. Throws
    // unavailable.
    StreamedCall(Target target, const ClientRequest& request);
    ~StreamedCall();
    int status() const;
    std::string header(std::string_view name) const;  // of the reply; "" where it has none
    // The next bytes of the body; nothing when none came for so long. Throws unavailable at the end of the
    // stream and after interrupt().
    std::optional<std::string> read(std::chrono::milliseconds limit);
    // After read() has thrown: the reply had an end and came whole.
    bool complete() const;
    void interrupt();

  private:
    class State;
    std::unique_ptr<State> state_;
};

}  // namespace svc
