#pragma once
// All clients of the session: one steers, the others watch (docs/streaming.md, Several clients). Gives each a
// Signalling of its own, and passes to the streamer what the one that steers does.
#include <functional>
#include <list>
#include <memory>
#include <string>

#include "instance-agent/streamer/client/signalling.h"

namespace svc::streamer {

class AudienceMember;

// Makes the peer of a client whose media goes through the gateway. Throws unsupported.
using SocketPeerFactory =
    std::function<std::unique_ptr<Peer>(PeerSetup setup, const std::string& client, PeerEvents& events)>;

// Used on the queue's thread alone.
class Audience {
  public:
    static constexpr std::size_t most_watchers = 8;
    static constexpr std::size_t most_buffered = 1U << 20;  // bytes of `control` that a watcher leaves unread

    // `host` is told of the client that steers; stream_began() and stream_ended() are about all of them.
    // `changed` is called when one of several has come or gone, or another one steers.
    Audience(SignallingHost& host, PeerFactory make_peer, EventQueue& queue, std::function<void()> changed,
             SocketPeerFactory make_socket_peer = nullptr);
    ~Audience();
    Audience(const Audience&) = delete;
    Audience& operator=(const Audience&) = delete;

    void from_gateway(const std::string& text);
    void gateway_is_back();                  // its connection is a new one
    void end(const StreamEnd& end);          // of all
    void say_goodbye(const StreamEnd& end);  // to all; for a program that cannot go on
    void end_all_media();

    bool is_active() const;                  // media flows to somebody
    std::size_t watchers() const;            // to how many that do not steer
    Peer* peer() const;                      // of the client that steers; null: none
    const ClientSettings& settings() const;  // likewise; the defaults: none
    unsigned steering() const;               // its number; 0: none
    void end_media();                        // of the client that steers
    // Ends its stream if it is the one of this number.
    void end_steering(unsigned number, const StreamEnd& end);
    std::vector<Peer*> peers() const;

  private:
    friend class AudienceMember;
    using Member = std::unique_ptr<AudienceMember>;

    void dispatch(const std::string& text, const JsonFields& fields);
    void terminate(const std::string& text, const JsonFields& fields);
    void joined(const std::string& text, const JsonFields& fields);
    void left(const std::string& text, const JsonFields& fields);
    void media_joined(const JsonFields& fields);
    void refuse(const std::string& client, const std::string& why);
    AudienceMember& add();
    AudienceMember* find(const std::string& client) const;  // null: unknown
    AudienceMember* find(unsigned number) const;
    bool has_others(const AudienceMember& member) const;  // media flows to another one
    void steer(AudienceMember* next);                     // null: nobody steers
    void announce();
    void sweep_later();
    void sweep();

    SignallingHost& host_;
    const PeerFactory make_peer_;
    EventQueue& queue_;
    const std::function<void()> changed_;
    const SocketPeerFactory make_socket_peer_;
    std::list<Member> members_;
    AudienceMember* steers_ = nullptr;
    unsigned last_number_ = 0;
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for work that waits in the queue
};

}  // namespace svc::streamer
