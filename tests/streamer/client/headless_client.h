#pragma once
// A client without a screen, for tests and benches: answers an offer, counts or decodes what comes, opens
// channels, sends a camera's picture of one colour.
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace svc::streamer {

// For what takes a moment on a machine that is not busy.
constexpr std::chrono::seconds patience{60};

using Colour = std::array<std::uint8_t, 3>;

struct ClientPicture {
    int width = 0, height = 0;
    std::vector<std::uint8_t> pixels;  // RGBA without padding
    Colour at(int x, int y) const;
};

struct ClientMessage {
    std::string channel;
    bool binary = false;
    std::string data;
};

struct ClientWish {
    bool decode = true;                            // false: packets are counted alone
    std::vector<std::string> channels{"control"};  // opened in this order
    std::optional<Colour> camera;                  // sent as VP8 where the offer has a place for it
    bool microphone = false;                       // a tone
    std::optional<std::vector<std::string>>
        codecs;            // "VP8", "H264": known to it; nothing: whatever is offered
    std::string turn_url;  // "turn://user:password@host:port"
    bool relay_only = false;
};

// What the client has to say to the other side; called on threads of the media library.
struct ClientSignals {
    std::function<void(const std::string& sdp)> answer;
    std::function<void(const std::string& candidate, unsigned media_line)> candidate;
};

// Thread-safe. start_media() comes before.
class HeadlessClient {
  public:
    using Duration = std::chrono::steady_clock::duration;
    using Moment = std::chrono::steady_clock::time_point;
    HeadlessClient(ClientWish wish, ClientSignals signals);
    ~HeadlessClient();
    HeadlessClient(const HeadlessClient&) = delete;
    HeadlessClient& operator=(const HeadlessClient&) = delete;

    void take_offer(const std::string& sdp);
    void add_candidate(const std::string& candidate, unsigned media_line);

    // Each waits until it is so; false: not in that time.
    bool wait_connected(Duration longest);
    bool wait_frames(std::uint64_t count, Duration longest);
    bool wait_picture(const std::function<bool(const ClientPicture&)>& as_wished, Duration longest);
    bool wait_channel(const std::string& name, Duration longest);
    std::optional<ClientMessage> next_message(Duration longest);
    // The other side has aborted the channels; the cause of SCTP (12: by its user).
    std::optional<int> wait_abort(Duration longest);
    bool wait_closed(Duration longest);  // the other side has closed the connection

    bool send(const std::string& channel, bool binary, std::string_view data);
    void close_channel(const std::string& channel);
    void leave();              // closes the connection as a player that goes
    void request_key_frame();  // as a player that lost a picture does

    std::uint64_t frames() const;  // that came
    std::uint64_t sound_packets() const;
    std::optional<Moment> first_frame() const;
    // Called for each decoded picture, on a thread of the media library.
    void on_picture(std::function<void(const ClientPicture&, Moment)> listener);

  private:
    class Implementation;
    std::shared_ptr<Implementation> implementation_;
};

}  // namespace svc::streamer
