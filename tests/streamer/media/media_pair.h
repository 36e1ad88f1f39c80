#pragma once
// A peer and a client in this process, and a guest that draws into the frame socket.
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "instance-agent/streamer/media/peer/gst_peer.h"
#include "libsvc/base/file.h"
#include "tests/streamer/client/headless_client.h"

namespace svc::streamer {

// The events that the peer has reported so far. Thread-safe.
class PeerLog : public PeerEvents {
  public:
    void local_offer(const std::string& sdp) override;
    void local_candidate(const std::string& candidate, unsigned media_line) override;
    void connected() override;
    void failed(const std::string& reason) override;
    void left() override;
    void fell_silent() override;
    void channel_opened(const std::string& label) override;
    void channel_closed(const std::string& label) override;
    void channel_message(const std::string& label, bool binary, std::string_view data) override;

    // Candidates go there from now on, those that came before at once.
    void candidates_to(std::function<void(const std::string&, unsigned)> sink);
    std::optional<std::string> wait_offer(std::chrono::seconds longest);
    // "connected", "failed: ...", "left", "open control", "closed control": whether it is told in that time.
    bool wait_event(const std::string& event, std::chrono::seconds longest);
    std::optional<ClientMessage> next_message(std::chrono::seconds longest);
    std::vector<std::string> events() const;

  private:
    void add(const std::string& event);
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::string offer_;
    std::vector<std::pair<std::string, unsigned>> candidates_;
    std::function<void(const std::string&, unsigned)> sink_;
    std::vector<std::string> events_;
    std::deque<ClientMessage> messages_;
};

// A frame as the frame socket takes it, and its head alone.
std::string frame_header(int width, int height);
std::string frame_of(int width, int height, Colour colour, std::optional<Colour> square = std::nullopt);

// Draws frames of one colour, with a square of another one in the middle if wished.
class FrameWriter {
  public:
    explicit FrameWriter(const std::string& path);  // throws where nobody listens
    void draw(int width, int height, Colour colour, std::optional<Colour> square = std::nullopt);
    bool send_bytes(std::string_view bytes);  // false: the other side has closed
    bool is_closed();                         // waits for it

  private:
    FileDescriptor fd_;
};

// Peer and client over loopback. The peer's frames come from frame_path().
class MediaPair {
  public:
    struct Wish {
        ClientSettings settings;
        ClientWish client;
        int width = 320, height = 240, fps = 30;
        std::function<std::string(std::string)> change_answer;  // before the peer gets it
        std::string display;
        std::string frame_path;  // "": one of its own
        std::shared_ptr<GuestDisplay> guest_display{};
        BitrateLimits bitrates;
        VideoEncoder encoder = VideoEncoder::software;
        std::shared_ptr<DisplayEncoders> encoders = std::make_shared<DisplayEncoders>();
        bool watches = false;
    };
    explicit MediaPair(Wish wish);
    ~MediaPair();
    MediaPair(const MediaPair&) = delete;
    MediaPair& operator=(const MediaPair&) = delete;

    void connect();  // offer, answer, candidates; throws what set_answer() throws
    void end_peer();
    void end_client();
    GstPeer& peer() { return *peer_; }
    PeerLog& log() { return log_; }
    HeadlessClient& client() { return *client_; }
    const std::string& offer() const { return offer_; }
    std::string frame_path() const {
        return wish_.frame_path.empty() ? (place_.path() / "frames").string() : wish_.frame_path;
    }

  private:
    Wish wish_;
    TemporaryDirectory place_;
    PeerLog log_;
    std::string offer_, answer_;
    std::mutex mutex_;  // of the two that follow, where candidates come
    std::unique_ptr<HeadlessClient> client_;
    std::unique_ptr<GstPeer> peer_;
};

StreamStats stats_of(const Peer& peer, const std::string& kind);

}  // namespace svc::streamer
