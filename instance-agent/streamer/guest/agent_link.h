#pragma once
// The streamer's session at svc-agent's guest interface (docs/streaming.md, Between streamer and agent).
#include <atomic>
#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include "libsvc/base/clock.h"
#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

struct svcguest;

namespace svc::streamer {

// Callbacks of the link, on its own thread.
struct AgentListener {
    std::function<void(Json answer)> attached;  // the answer to stream.attach, also after a reconnection
    std::function<void(std::string event, Json members)> event;
};

// Thread-safe. Reconnects when the agent was restarted. Stops for good when another streamer has attached.
class AgentLink {
  public:
    static constexpr std::chrono::seconds retry_pause{2};

    AgentLink(std::filesystem::path socket, Clock& clock, AgentListener listener);
    ~AgentLink();
    AgentLink(const AgentLink&) = delete;
    AgentLink& operator=(const AgentLink&) = delete;
    void set_active(bool active);  // whether media flows; sent again after a reconnection

  private:
    void run(const std::stop_token& stop);
    void serve(const std::stop_token& stop, svcguest* guest);
    bool attach(svcguest* guest);
    void tell_state(svcguest* guest);
    void take_event(const std::string& name, const std::string& text);
    void wake();

    const std::filesystem::path socket_;
    Clock& clock_;
    AgentListener listener_;
    FileDescriptor wake_;
    std::atomic<bool> active_{false};
    bool told_active_ = false;  // used by the link's thread, like the two below
    bool detached_ = false;
    bool complained_ = false;
    std::jthread thread_;  // last member: the thread uses the others
};

}  // namespace svc::streamer
