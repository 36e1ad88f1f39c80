#pragma once
// What devices tell the streamer, if there is one, and what one that comes later has to know.
#include <atomic>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "instance-agent/agent/guest/guest_server.h"
#include "libsvc/base/guarded.h"

namespace svc::agent {

// A camera that a guest has open.
struct OpenCamera {
    std::uint16_t handle = 0;
    std::string camera, facing;
    std::uint32_t width = 0, height = 0, fps = 0;
    Json to_json() const;
};

// Thread-safe. Never blocks: events are queued at the streamer's session.
class StreamLink {
  public:
    struct Uses {
        std::set<std::string> sensors;  // that are switched on
        std::map<std::uint16_t, OpenCamera> cameras;
    };

    // Makes it the streamer; the one before is told that it is none any more. What changes from now on it is
    // told.
    Uses attach(const GuestSessionPtr& session);
    bool detach(const GuestSession& session);  // false: it was not the streamer
    bool is_streamer(const GuestSession& session) const;

    void sensor(std::string_view type, bool active);  // told once for each change
    void camera_opened(const OpenCamera& camera);
    void camera_closed(std::uint16_t handle);
    bool send(const Json& event);  // false: there is no streamer

    // For devices that a streamer may switch on: each is called when the streamer has gone without a word, or
    // another one took its place. Before the first one attaches; what they throw is logged.
    void when_gone(std::function<void()> call);
    void gone() const;

  private:
    struct State {
        GuestSessionPtr streamer;
        Uses uses;
        bool is(const GuestSession& session) const;
        bool send(const Json& event) const;
    };
    Guarded<State> state_;
    std::vector<std::function<void()>> gone_calls_;
};

// Whether it is the streamer that has switched a device on. Thread-safe.
class LentSwitch {
  public:
    // Of a request that was carried out. One that changed nothing makes it the operator's, if it is one's.
    void thrown(const Json& body, bool on, bool changed);
    bool take_back() { return lent_.exchange(false); }  // true: it is to be switched off

  private:
    std::atomic<bool> lent_ = false;
};

}  // namespace svc::agent
