#pragma once
// The conversation with the present client through the gateway (docs/streaming.md, Signalling): one client at
// a time, from its join to the end of its media. Knows nothing of sockets or of GStreamer.
#include <optional>

#include "instance-agent/streamer/client/media_peer.h"
#include "instance-agent/streamer/client/peer_listener.h"
#include "libsvc/base/json.h"
#include "libsvc/model/streaming/stream_end.h"

namespace svc::streamer {

struct ScreenWish {
    int width = 0, height = 0;                              // 0: as it is
    int density = 0;                                        // 0: as it is
    static ScreenWish from_json(const JsonFields& fields);  // throws invalid_argument
};

// What the conversation needs and gives rise to. Called on the one thread.
class SignallingHost {
  public:
    virtual ~SignallingHost() = default;
    virtual void to_gateway(const Json& message) = 0;
    virtual void tell_client(const std::string& type, const Json& data) = 0;  // on its control channel
    virtual void show_screen(const ScreenWish& wish) = 0;
    virtual PeerSetup peer_setup() = 0;  // all but settings and ICE servers
    virtual bool is_automotive() const = 0;
    virtual void stream_began() = 0;
    virtual void client_silent() = 0;  // it may have vanished
    virtual void stream_ended() = 0;   // the peer is still there
    virtual void peer_ended() = 0;     // it is not any more
    virtual void channel_opened(const std::string& label) = 0;
    virtual void channel_closed(const std::string& label) = 0;
    virtual void channel_message(const std::string& label, const std::string& data) = 0;
    virtual void terminate(const std::string& reason) = 0;
};

// One thread: the queue's. Whatever the client or the gateway says, it does not throw; a client that is wrong
// gets an `error` message.
class Signalling final : private PeerNews {
  public:
    static constexpr std::size_t max_early_candidates = 64;
    static constexpr std::size_t max_message = 1U << 20;
    // For a client whose signalling has ended before its media began.
    static constexpr std::chrono::seconds connect_limit{30};

    Signalling(SignallingHost& host, PeerFactory make_peer, EventQueue& queue);
    ~Signalling() override;
    Signalling(const Signalling&) = delete;
    Signalling& operator=(const Signalling&) = delete;

    void from_gateway(const std::string& text);
    void end_media();  // the client said goodbye; it may begin anew
    // Tells the client why, wherever it listens, and ends the media.
    void end(const StreamEnd& end);
    // Likewise, but for the media, where the rest of the program may not move any more.
    void say_goodbye(const StreamEnd& end);

    bool is_active() const { return active_; }             // media flows
    MediaPeer* peer() const { return media_.peer.get(); }  // null: none
    const ClientSettings& settings() const { return settings_; }

  private:
    enum class Stage { joined, discovered, offering, offered, answered };
    struct Candidate {
        std::string text;
        unsigned media_line = 0;
    };
    struct Media {
        std::unique_ptr<PeerListener> listener;  // outlives the peer
        std::unique_ptr<MediaPeer> peer;
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

    void on_offer(unsigned peer, const std::string& sdp) override;
    void on_candidate(unsigned peer, const std::string& candidate, unsigned media_line) override;
    void on_connected(unsigned peer) override;
    void on_failed(unsigned peer, const std::string& reason) override;
    void on_left(unsigned peer) override;
    void on_silent(unsigned peer) override;
    void on_channel_opened(unsigned peer, const std::string& label) override;
    void on_channel_closed(unsigned peer, const std::string& label) override;
    void on_channel_message(unsigned peer, const std::string& label, const std::string& data) override;
    bool is_present(unsigned peer) const { return media_.peer != nullptr && peer == peer_number_; }

    SignallingHost& host_;
    PeerFactory make_peer_;
    EventQueue& queue_;
    std::string client_;  // id; "": nobody signals
    Stage stage_ = Stage::joined;
    std::vector<IceServer> ice_servers_;
    ClientSettings settings_;
    std::vector<Candidate> early_candidates_;  // of the client, before there is a peer
    std::vector<std::string> mids_;            // of our offer, by line
    Media media_;
    unsigned peer_number_ = 0;
    bool active_ = false;
};

}  // namespace svc::streamer
