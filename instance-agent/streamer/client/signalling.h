#pragma once
// The signalling with a client through the gateway (docs/streaming.md, Signalling): one client at a time,
// from its join to the end of its media. Knows neither sockets nor GStreamer.
#include <optional>

#include "instance-agent/streamer/client/screen_wish.h"
#include "instance-agent/streamer/peer/queued_peer_events.h"
#include "libsvc/base/json.h"
#include "libsvc/model/streaming/stream_end.h"

namespace svc::streamer {

// What signalling needs of the streamer, and tells it. Called on the queue's thread.
class SignallingHost {
  public:
    virtual ~SignallingHost() = default;
    virtual void to_gateway(const Json& message) = 0;
    virtual void tell_client(const std::string& type, const Json& data) = 0;  // on its control channel
    virtual void show_screen(const ScreenWish& wish) = 0;
    virtual PeerSetup peer_setup() = 0;                         // complete except settings and ICE servers
    virtual std::vector<std::string> capabilities() const = 0;  // of `resp:discover`
    virtual bool is_watched() const { return false; }           // media flows to another client
    virtual void stream_began() = 0;
    virtual void client_silent() = 0;              // the client may have vanished
    virtual void stream_ended() = 0;               // the peer still exists
    virtual void peer_ended() = 0;                 // the peer no longer exists
    virtual void control_lost() { peer_ended(); }  // the peer stays, but its client only watches from now on
    virtual void channel_opened(const std::string& label) = 0;
    virtual void channel_closed(const std::string& label) = 0;
    virtual void channel_message(const std::string& label, bool binary, const std::string& data) = 0;
    virtual void terminate(const std::string& reason) = 0;
};

// Used on the queue's thread alone. Messages of client and gateway never make it throw: a wrong message of
// the client is answered with `error`.
class Signalling final : private PeerEvents {
  public:
    static constexpr std::size_t max_early_candidates = 64;
    static constexpr std::size_t max_message = 1U << 20;
    // Time for the media to connect after the client has left the signalling, or comes through the gateway.
    static constexpr std::chrono::seconds connect_limit{30};

    Signalling(SignallingHost& host, PeerFactory make_peer, EventQueue& queue);
    ~Signalling() override;
    Signalling(const Signalling&) = delete;
    Signalling& operator=(const Signalling&) = delete;

    void from_gateway(const std::string& text);
    void end_media();  // ends the peer; the client may start again
    // The gateway passes nothing of the client any more. Its media goes on, or has a while to connect.
    void forget_client();
    // The client's media goes through the gateway: another peer takes the place of one that found no path.
    void use(const PeerFactory& make_socket_peer);
    // Tells the client the reason, by signalling and control channel, and ends the media.
    void end(const StreamEnd& end);
    // The same without ending the media; for a program that cannot go on.
    void say_goodbye(const StreamEnd& end);

    bool is_active() const { return active_; }        // media flows
    Peer* peer() const { return media_.peer.get(); }  // null: no peer
    bool is_idle() const { return client_.empty() && !media_.peer; }
    const ClientSettings& settings() const { return settings_; }

  private:
    enum class Stage { joined, discovered, offering, offered, answered };
    struct Candidate {
        std::string text;
        unsigned media_line = 0;
    };
    struct Media {
        std::shared_ptr<QueuedPeerEvents> events;  // outlives the peer
        std::unique_ptr<Peer> peer;
    };

    void dispatch(const JsonFields& fields);
    void client_joined(const JsonFields& fields);
    void client_left(const JsonFields& fields);
    void client_message(const std::string& type, const JsonFields& fields);
    void discover();
    void begin(const JsonFields& fields);
    void start_peer();
    void take_answer(const JsonFields& fields);
    void take_candidate(const JsonFields& fields);
    void expect_connection();
    void end_stream(const StreamEnd& end);
    void tell_unwatched(bool was_told);
    void refuse(const std::string& message);
    void to_client(const Json& message);

    // Of the present peer, on the queue's thread.
    void local_offer(const std::string& sdp) override;
    void local_candidate(const std::string& candidate, unsigned media_line) override;
    void connected() override;
    void failed(const std::string& reason) override;
    void left() override;
    void fell_silent() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, bool binary, std::string_view data) override;

    SignallingHost& host_;
    PeerFactory make_peer_;
    EventQueue& queue_;
    std::string client_;  // client id; "": no client
    Stage stage_ = Stage::joined;
    std::vector<IceServer> ice_servers_;
    ClientSettings settings_;
    std::vector<Candidate> early_candidates_;  // of the client, from before the peer was made
    std::vector<std::string> mids_;            // media section names (mid) of the offer, by line
    Media media_;
    bool active_ = false;
};

}  // namespace svc::streamer
