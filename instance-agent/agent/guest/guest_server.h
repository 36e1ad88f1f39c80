#pragma once
// The second socket of the instance, where programs of the guest attach: subscribe to location and sensors,
// take camera frames, use or provide vehicle properties (facts 2.5; docs/guest-interface.md).
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"
#include "libsvc/base/metrics.h"

namespace svc::agent {

// One attached program. Thread-safe; kept by shared_ptr, and harmless once its connection is gone. Sending
// never blocks: what does not fit its bounded queue is dropped (events: the oldest of the same name first;
// answers never, the client is disconnected instead).
class GuestSession {
  public:
    virtual ~GuestSession() = default;
    virtual std::uint64_t id() const = 0;  // never used twice
    virtual uid_t uid() const = 0;
    virtual bool may_control() const = 0;  // root, uid 1000, or of the group `vehicle`
    virtual void send_event(const Json& event) = 0;
    // A late answer, whole, with "id" and "ok": see GuestAnswer::later.
    virtual void send_answer(const Json& answer) { send_event(answer); }
    // A camera frame's header (kind 2): false when the queue is full, then nothing was queued.
    virtual bool send_frame(std::uint16_t stream, std::string_view header) = 0;
    virtual bool open() const = 0;
};
using GuestSessionPtr = std::shared_ptr<GuestSession>;

// The answer to an op, which comes before the events the op gives rise to: members besides "id" and "ok".
// `descriptor` travels with it (SCM_RIGHTS). `later`: the op answers by itself, with
// GuestSession::send_answer, when the request had an id.
struct GuestAnswer {
    Json members = Json::object();
    FileDescriptor descriptor{};
    bool later = false;
};
// Runs on the guest server's thread: must not block. Throwing Error answers {"ok":false,"error":text}.
using GuestOp = std::function<GuestAnswer(const GuestSessionPtr& session, const JsonFields& request)>;

// What a device offers to guests.
struct GuestFeature {
    std::string name;                                    // in the answer to hello: "location"; "": not listed
    std::map<std::string, GuestOp> ops;                  // "location.subscribe"
    std::function<void(const GuestSessionPtr&)> closed;  // a session has ended; may be empty
    // Binary messages of the client (kind 3: a frame's buffer is free again). May be empty
    std::function<void(const GuestSessionPtr&, std::uint16_t stream, std::string_view payload)> binary;
};

struct GuestServerOptions {
    std::filesystem::path socket;
    std::size_t max_sessions = 256;          // one more is closed at once
    std::size_t max_sessions_per_user = 64;  // of users who may not control
    std::size_t max_message = 1U << 20;      // bytes of JSON
    std::size_t queue_bytes = 1U << 20;      // per session
    std::size_t total_bytes = 32U << 20;     // waiting in either direction, of all sessions
    std::chrono::milliseconds hello_limit{5000};
    MetricsRegistry* metrics = nullptr;  // runtime_guest_*; outlives the server
};

// One thread of its own serves all sessions. Thread-safe.
class GuestServer {
  public:
    GuestServer(GuestServerOptions options, std::vector<GuestFeature> features);
    ~GuestServer();                     // closes all
    void broadcast(const Json& event);  // to all that have said hello
    std::size_t sessions() const;

  private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
};

}  // namespace svc::agent
