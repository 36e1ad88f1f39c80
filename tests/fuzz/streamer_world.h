#pragma once
// The streamer without media: the conversation, the control channel and the wishes of the guest, put together
// as in streamer.cpp. What goes out is looked at as it goes.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "instance-agent/streamer/client/control_channel.h"
#include "instance-agent/streamer/client/signalling.h"
#include "instance-agent/streamer/guest/guest_wishes.h"
#include "instance-agent/streamer/media/peer/answer_check.h"
#include "instance-agent/streamer/media/peer/ice_urls.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "tests/fuzz/checked_sink.h"
#include "tests/support/manual_clock.h"

namespace svc::fuzz {

// What the one peer of the moment was told.
struct PeerState {
    int alive = 0;
    bool answered = false;
    streamer::PeerEvents* events = nullptr;
};

// Takes answers as the real one does, as far as its check.
class CheckedPeer final : public streamer::Peer {
  public:
    CheckedPeer(PeerState& state, const streamer::PeerSetup& setup, streamer::PeerEvents& events)
        : state_(state) {
        require(setup.settings.data_channels.size() <= 5);
        for (const std::string& turn : streamer::ice_urls(setup.ice_servers).turn)
            require(turn.starts_with("turn://") || turn.starts_with("turns://"));
        using streamer::Section;
        if (setup.settings.speaker || setup.settings.microphone) offered_.sections.push_back(Section::audio);
        if (setup.settings.camera) offered_.sections.push_back(Section::camera);
        if (setup.settings.video) offered_.sections.push_back(Section::display);
        offered_.sections.push_back(Section::application);
        require(++state_.alive == 1);
        state_.answered = false;
        state_.events = &events;
    }
    ~CheckedPeer() override {
        --state_.alive;
        state_.events = nullptr;
    }
    CheckedPeer(const CheckedPeer&) = delete;
    CheckedPeer& operator=(const CheckedPeer&) = delete;

    void set_answer(const std::string& sdp) override {
        require(!state_.answered);
        const auto codec = streamer::check_answer(sdp, offered_);
        const auto& sections = offered_.sections;
        const bool has_display =
            std::find(sections.begin(), sections.end(), streamer::Section::display) != sections.end();
        require(codec.has_value() == has_display);
        state_.answered = true;
    }
    void add_candidate(const std::string& candidate, unsigned media_line) override {
        require(!candidate.empty() && media_line <= 64);
    }
    bool send(const std::string&, bool, std::string_view) override { return true; }
    std::size_t buffered(const std::string&) const override { return 0; }
    void set_bitrates(streamer::BitrateLimits) override {}
    void set_watching(bool) override {}
    void hide_screen() override {}
    void show_screen(int, int) override {}
    void set_camera_sink(int, int, int, streamer::Peer::FrameSink) override {}
    streamer::PeerStats stats() const override { return {}; }
    void end() override {}

  private:
    PeerState& state_;
    streamer::Offered offered_{{}, {streamer::VideoCodec::h264, streamer::VideoCodec::vp8}};
};

class StreamerWorld final : private streamer::SignallingHost {
  public:
    void from_gateway(const std::string& text) { signalling_.from_gateway(text), settle(); }
    // As the relay passes it on: with the client's id.
    void from_client(const std::string& text) {
        Json message = Json::parse(text);
        if (!message.is_object() || message.find("type") == nullptr) return;
        message.set("client_id", client_);
        from_gateway(message.dump());
    }
    void join() {
        client_ = "client-" + std::to_string(++clients_);
        from_gateway(R"({"type":"ctl:client-joined","client_id":")" + client_ + R"(","stun_servers":[]})");
    }
    void answer(const std::string& sdp) {
        from_client(Json::object({{"type", "answer"}, {"sdp", base64_encode(sdp)}}).dump());
    }
    void peer_offers(const std::string& sdp) {
        if (peer_.events != nullptr) peer_.events->local_offer(sdp);
        settle();
    }
    void peer_candidate(const std::string& text) {
        if (peer_.events != nullptr)
            peer_.events->local_candidate(text, static_cast<unsigned>(text.size() % 5));
        settle();
    }
    void peer_connects(bool well) {
        if (peer_.events != nullptr) well ? peer_.events->connected() : peer_.events->failed("tried");
        settle();
    }
    void channel(bool opens, const std::string& label) {
        if (peer_.events != nullptr)
            opens ? peer_.events->channel_opened(label) : peer_.events->channel_closed(label);
        settle();
    }
    void client_sends(bool binary, const std::string& text) {
        if (peer_.events != nullptr) peer_.events->channel_message("control", binary, text);
        settle();
    }
    // Also when no channel is open.
    void control(const std::string& text) { control_.take(text), settle(); }
    // "name {members}": of the guest's programs.
    void guest_event(const std::string& text) {
        const std::size_t space = std::min(text.find(' '), text.size());
        const Json members = Json::parse(text.substr(space));
        wishes_.event(text.substr(0, space), JsonFields(members)), settle();
    }
    void guest_attached(const std::string& text) {
        const Json answer = Json::parse(text);
        wishes_.attached(JsonFields(answer)), settle();
    }
    void pass_time() { clock_.advance(std::chrono::seconds(20)), settle(); }

  private:
    void settle() {
        queue_.run_due();
        require(began_ - ended_ == (signalling_.is_active() ? 1 : 0));
        require(peer_.alive == (signalling_.peer() != nullptr ? 1 : 0));
        require(!signalling_.is_active() || peer_.alive == 1);
    }

    void to_gateway(const Json& message) override {
        require(Json::parse(message.dump()) == message);
        const std::string& type = message.at("type").as_string();
        if (type == "ctl:pong" || type == "ctl:stream") return;
        require(!type.starts_with("ctl:") && message.find("client_id") != nullptr);
        if (type == "error") return require(!message.at("message").as_string().empty());
        if (type == "offer") return (void)base64_decode(message.at("sdp").as_string());
        if (type == "candidate") return (void)base64_decode(message.at("candidate").as_string());
        require(type == "resp:discover");
    }
    void tell_client(const std::string&, const Json&) override {}
    void show_screen(const streamer::ScreenWish& wish) override {
        for (const int side : {wish.width, wish.height}) require(side >= 0 && side <= 16384);
        require(wish.density == 0 || (wish.density >= 72 && wish.density <= 16384));
    }
    streamer::PeerSetup peer_setup() override { return {}; }
    std::vector<std::string> capabilities() const override { return {"vhal"}; }
    void stream_began() override { ++began_; }
    void client_silent() override {}
    void stream_ended() override { ++ended_; }
    void peer_ended() override { control_.client_gone(), injected_.client_gone(), input_.release_all(); }
    void channel_opened(const std::string& label) override {
        if (label == "control") wishes_.client_ready(signalling_.settings());
    }
    void channel_closed(const std::string& label) override {
        if (label == "control") input_.release_all(), wishes_.client_gone();
    }
    void channel_message(const std::string& label, bool, const std::string& data) override {
        if (label == "control") control_.take(data);
    }
    void terminate(const std::string&) override { require(peer_.alive == 0); }

    void tell_client(const std::string& type, const Json& data) const {
        require(!type.empty() && Json::parse(data.dump()) == data);
    }

    const std::filesystem::path nobody_ = "/nonexistent/api.unix";
    test::ManualClock clock_;
    streamer::EventQueue queue_{clock_};
    CheckedSink sink_;
    streamer::ClientInput input_{sink_};
    PeerState peer_;
    int began_ = 0, ended_ = 0, clients_ = 0;
    std::string client_ = "client-0";
    streamer::InjectedData injected_{
        nobody_, queue_, [this](const std::string& type, const Json& data) { tell_client(type, data); }};
    streamer::ControlChannel control_{input_,
                                      injected_,
                                      {[this] { signalling_.end_media(); },
                                       [this](const streamer::ScreenWish& wish) { show_screen(wish); }},
                                      clock_};
    streamer::CameraRelay camera_{
        nobody_, queue_, [this] { return signalling_.peer(); },
        [this](const std::string& type, const Json& data) { tell_client(type, data); }};
    streamer::GuestWishes wishes_{
        camera_, [this](const std::string& type, const Json& data) { tell_client(type, data); }};
    streamer::Signalling signalling_{*this,
                                     [this](const streamer::PeerSetup& setup, streamer::PeerEvents& events) {
                                         return std::make_unique<CheckedPeer>(peer_, setup, events);
                                     },
                                     queue_};
};

}  // namespace svc::fuzz
