#pragma once
// Peers without media: they keep what they are told, and tell what a test wants.
#include <mutex>

#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/error.h"

namespace svc::test {

struct PeerRecord {
    std::mutex mutex;
    int made = 0, ended = 0;
    streamer::PeerSetup setup;
    streamer::PeerEvents* events = nullptr;              // of the present one
    std::vector<std::string> answers, candidates, sent;  // sent: "label text|binary data"
    streamer::Peer::FrameSink camera;
    streamer::PeerStats stats;
    streamer::BitrateLimits bitrates;
    bool watching = false;
    std::vector<std::pair<int, int>> sizes;  // of the screen, as they were shown
    std::size_t buffered = 0;
    std::size_t buffered_asked = 0;
    std::string fail_with;  // set: the next one cannot be made

    std::vector<std::string> all_sent() {
        std::lock_guard lock(mutex);
        return sent;
    }
};

class FakePeer final : public streamer::Peer {
  public:
    FakePeer(PeerRecord& record, streamer::PeerSetup setup, streamer::PeerEvents& events) : record_(record) {
        std::lock_guard lock(record_.mutex);
        if (!record_.fail_with.empty())
            throw Error(ErrorCode::unsupported, std::exchange(record_.fail_with, ""));
        ++record_.made;
        record_.setup = std::move(setup);
        record_.events = &events;
    }
    ~FakePeer() override {
        std::lock_guard lock(record_.mutex);
        ++record_.ended;
        record_.events = nullptr;
    }
    FakePeer(const FakePeer&) = delete;
    FakePeer& operator=(const FakePeer&) = delete;

    void set_answer(const std::string& sdp) override {
        if (sdp != "good answer") throw Error(ErrorCode::invalid_argument, "answer has no codec in common");
        std::lock_guard lock(record_.mutex);
        record_.answers.push_back(sdp);
    }
    void add_candidate(const std::string& candidate, unsigned media_line) override {
        std::lock_guard lock(record_.mutex);
        record_.candidates.push_back(candidate + "@" + std::to_string(media_line));
    }
    bool send(const std::string& label, bool binary, std::string_view data) override {
        std::lock_guard lock(record_.mutex);
        record_.sent.push_back(label + (binary ? " binary " : " text ") + std::string(data));
        return true;
    }
    std::size_t buffered(const std::string&) const override {
        std::lock_guard lock(record_.mutex);
        ++record_.buffered_asked;
        return record_.buffered;
    }
    void set_bitrates(streamer::BitrateLimits bitrates) override {
        std::lock_guard lock(record_.mutex);
        record_.bitrates = bitrates;
    }
    void set_watching(bool watches) override {
        std::lock_guard lock(record_.mutex);
        record_.watching = watches;
    }
    void hide_screen() override { note("hide"); }
    void show_screen(int width, int height) override {
        note("show " + std::to_string(width) + "x" + std::to_string(height));
        std::lock_guard lock(record_.mutex);
        record_.sizes.emplace_back(width, height);
    }
    void set_camera_sink(int, int, int, streamer::Peer::FrameSink sink) override {
        std::lock_guard lock(record_.mutex);
        record_.camera = std::move(sink);
    }
    void end() override { note("end"); }
    streamer::PeerStats stats() const override {
        std::lock_guard lock(record_.mutex);
        return record_.stats;
    }

  private:
    void note(const std::string& text) {
        std::lock_guard lock(record_.mutex);
        record_.sent.push_back(text);
    }

    PeerRecord& record_;
};

inline streamer::PeerFactory make_fake_peers(PeerRecord& record) {
    return [&record](streamer::PeerSetup setup, streamer::PeerEvents& events) {
        return std::make_unique<FakePeer>(record, std::move(setup), events);
    };
}

}  // namespace svc::test
