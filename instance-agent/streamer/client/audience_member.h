#pragma once
// Internal to Audience: one client with its signalling and its peer.
#include <set>
#include <string>

#include "instance-agent/streamer/client/audience.h"

namespace svc::streamer {

class AudienceMember final : private SignallingHost {
  public:
    AudienceMember(Audience& audience, unsigned number, const PeerFactory& make_peer, EventQueue& queue)
        : audience_(audience), number_(number), signalling_(*this, make_peer, queue) {}

    unsigned number() const { return number_; }
    Signalling& signalling() { return signalling_; }
    const Signalling& signalling() const { return signalling_; }
    const std::string& client() const { return client_; }
    void is_client(const std::string& id) {
        client_ = id;
    }  // another one may take the place of one that steers

    void hand_over();      // it watches from now on
    void take_over();      // it steers from now on
    void tell_audience();  // who is there, if it wants to know

  private:
    bool steers() const { return audience_.steers_ == this; }
    void watcher_message(const std::string& label, const std::string& text);
    bool has_patience();  // for another message of those that are counted
    void audience_message(const std::string& text);
    void send(std::string_view label, const Json& message);
    void give_control(const JsonFields& fields);

    void to_gateway(const Json& message) override { audience_.host_.to_gateway(message); }
    void tell_client(const std::string& type, const Json& data) override;
    void show_screen(const ScreenWish& wish) override;
    PeerSetup peer_setup() override;
    std::vector<std::string> capabilities() const override;
    bool is_watched() const override { return audience_.has_others(*this); }
    void stream_began() override;
    void client_silent() override;
    void stream_ended() override;
    void peer_ended() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, bool binary, const std::string& data) override;
    void terminate(const std::string&) override {}  // the audience tells the streamer

    Audience& audience_;
    const unsigned number_;
    std::string client_;              // its id; the signalling forgets it when the client closes its socket
    std::set<std::string> channels_;  // that are open
    bool wants_audience_ = false;
    int messages_ = 0;  // about the audience, and requests of a watcher, in this second
    SteadyTime second_{};
    Signalling signalling_;
};

}  // namespace svc::streamer
