#pragma once
// One program of the guest that is attached to the guest interface (docs/guest-interface.md), as devices see
// it, and what a device offers to such programs.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "libsvc/base/file.h"
#include "libsvc/base/json.h"

namespace svc::agent {

// One attached program. Thread-safe. Held by shared_ptr; after the connection has ended, calls do nothing.
// Sending never blocks. When the session's bounded queue is full, events are dropped, the oldest of the same
// name first; when answers do not fit, the client is disconnected.
class GuestSession {
  public:
    virtual ~GuestSession() = default;
    virtual std::uint64_t id() const = 0;  // unique for the life of the agent
    virtual uid_t uid() const = 0;
    virtual bool may_control() const = 0;  // root, uid 1000, or of the group `vehicle`
    virtual void send_event(const Json& event) = 0;
    // Sends a late answer, complete with "id" and "ok": see GuestAnswer::later.
    virtual void send_answer(const Json& answer) { send_event(answer); }
    // Queues the header of a camera frame (message kind 2). False: the queue is full, nothing was queued.
    virtual bool send_frame(std::uint16_t stream, std::string_view header) = 0;
    virtual bool open() const = 0;
};
using GuestSessionPtr = std::shared_ptr<GuestSession>;

// The answer to an op: its members besides "id" and "ok", and a descriptor that goes with it (SCM_RIGHTS). It
// is sent before events that the op causes. With `later` the op itself calls GuestSession::send_answer, when
// the request has an id.
struct GuestAnswer {
    Json members = Json::object();
    FileDescriptor descriptor{};
    bool later = false;
};
// Runs on the guest server's thread and must not block. An Error that it throws is answered with
// {"ok":false,"error":text}.
using GuestOp = std::function<GuestAnswer(const GuestSessionPtr& session, const JsonFields& request)>;

// What a device offers to guests.
struct GuestFeature {
    std::string name;                    // listed in the answer to hello: "location"; "": not listed
    std::map<std::string, GuestOp> ops;  // "location.subscribe"
    std::function<void(const GuestSessionPtr&)> closed;  // called when a session has ended; may be empty
    // Takes binary messages of the client (kind 3: releases a frame's buffer). May be empty.
    std::function<void(const GuestSessionPtr&, std::uint16_t stream, std::string_view payload)> binary;
};

}  // namespace svc::agent
