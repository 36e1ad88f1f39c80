// svc-stream-client: a session's client without a screen, driven by lines: what a browser does up to the
// decoded picture.
//   svc-stream-client URL [--turn-url turn://user:password@host:port] [--relay-only]
//                         [--codecs NAME,...]
// URL is that of the session's answer (wss://.../sockets/slave?token=...). Once media flows it says
// {"connected":true} and then answers each line of standard input by one:
//   frames N              waits for N more frames
//   colour X Y            of the next picture
//   until X Y R G B       waits for a picture with this colour there, more or less
//   send CHANNEL TEXT     by a data channel
//   sound                 packets that came
// --codecs: the ones it knows, of VP8 and H264; "none": neither.
// {"error":"..."} is its last line, exit status 1, when the session or the gateway refuses it.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "instance-agent/streamer/media/video/codecs.h"
#include "instance-agent/streamer/peer/peer.h"
#include "libsvc/base/digest.h"
#include "libsvc/base/error.h"
#include "libsvc/base/strings.h"
#include "libsvc/net/websocket/websocket_client.h"
#include "tests/streamer/client/headless_client.h"

namespace {

using namespace svc;
using namespace svc::streamer;
using namespace std::chrono_literals;

void say(const Json& line) {
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

struct Place {
    Target target;
    std::string path;
};

Place read_url(const std::string& url) {
    const std::size_t scheme = url.find("://"), slash = url.find('/', scheme + 3);
    if (scheme == std::string::npos || slash == std::string::npos)
        throw Error(ErrorCode::invalid_argument, "not the URL of a socket: " + url);
    const bool tls = url.starts_with("wss");
    Place place{Target::parse((tls ? "https" : "http") + url.substr(scheme, slash - scheme)),
                url.substr(slash)};
    place.target.unverified = true;
    return place;
}

class Session {
  public:
    Session(const std::string& url, ClientWish wish)
        : place_(read_url(url)),
          socket_(place_.target, place_.path),
          client_(std::move(wish),
                  {[this](const std::string& sdp) { send("answer", "sdp", sdp, std::nullopt); },
                   [this](const std::string& candidate, unsigned line) {
                       send("candidate", "candidate", candidate, line);
                   }}),
          listener_([this](const std::stop_token& stop) { listen(stop); }) {
        send_json(Json::object({{"type", "discover"}}));
    }
    ~Session() {
        listener_.request_stop();
        if (listener_.joinable()) listener_.join();
    }
    // As a browser does: once media flows it closes the signalling.
    void await_media() {
        const auto end = std::chrono::steady_clock::now() + patience;
        while (!client_.wait_connected(50ms)) {
            if (const std::string fault = error(); !fault.empty()) throw Error(ErrorCode::unavailable, fault);
            if (std::chrono::steady_clock::now() > end)
                throw Error(ErrorCode::unavailable, "media did not come");
        }
        listener_.request_stop();
        listener_.join();
        std::lock_guard lock(mutex_);
        open_ = false;
        socket_.close();
    }
    HeadlessClient& client() { return client_; }

  private:
    void send_json(const Json& message) {
        std::lock_guard lock(mutex_);
        if (open_) socket_.send_text(message.dump());
    }
    void send(const char* type, const char* member, const std::string& text,
              std::optional<unsigned> line) try {
        Json message = Json::object({{"type", type}, {member, base64_encode(text)}});
        if (line) message.set("sdpMLineIndex", *line);
        if (line) message.set("sdpMid", nullptr);
        send_json(message);
    } catch (const Error& e) {
        fail(e.what());
    }
    void listen(const std::stop_token& stop) try {
        while (!stop.stop_requested()) {
            const auto message = socket_.receive(50ms);
            if (!message) continue;
            if (message->kind == WebSocketMessage::Kind::closed)
                return fail("signalling was closed: " + message->data);
            take(JsonFields(Json::parse(message->data)));
        }
    } catch (const Error& e) {
        fail(e.what());
    }
    void take(const JsonFields& message) {
        const std::string type = message.require_string("type");
        if (type == "error") return fail(message.string("message").value_or("error"));
        if (type == "resp:discover") return send_settings();
        if (type == "offer") client_.take_offer(base64_decode(message.require_string("sdp")));
        if (type == "candidate")
            client_.add_candidate(base64_decode(message.require_string("candidate")),
                                  static_cast<unsigned>(message.integer("sdpMLineIndex").value_or(0)));
    }
    void send_settings() {
        send_json(Json::object({{"type", "settings"},
                                {"api_version", 2},
                                {"data_channels", Json::array()},
                                {"enable_speaker", true},
                                {"enable_microphone", false},
                                {"enable_video", true},
                                {"enable_camera", false}}));
    }
    void fail(const std::string& reason) {
        std::lock_guard lock(mutex_);
        if (error_.empty()) error_ = reason;
    }
    std::string error() {
        std::lock_guard lock(mutex_);
        return error_;
    }

    const Place place_;
    std::mutex mutex_;
    bool open_ = true;
    std::string error_;
    WebSocketClient socket_;
    HeadlessClient client_;
    std::jthread listener_;
};

bool alike(const Colour& a, const Colour& b) {
    for (std::size_t i = 0; i < a.size(); ++i)
        if (std::abs(a[i] - b[i]) > 40) return false;
    return true;
}

Json colour_at(HeadlessClient& client, int x, int y) {
    Json answer = Json::object({{"ok", false}});
    client.wait_picture(
        [&](const ClientPicture& picture) {
            if (x >= picture.width || y >= picture.height) return true;
            const Colour colour = picture.at(x, y);
            answer = Json::object({{"ok", true},
                                   {"width", picture.width},
                                   {"height", picture.height},
                                   {"colour", Json::array({colour[0], colour[1], colour[2]})}});
            return true;
        },
        patience);
    return answer;
}

Json until(HeadlessClient& client, int x, int y, const Colour& wanted) {
    return Json::object({{"ok", client.wait_picture(
                                    [&](const ClientPicture& picture) {
                                        return x < picture.width && y < picture.height &&
                                               alike(picture.at(x, y), wanted);
                                    },
                                    patience)}});
}

Json answer(HeadlessClient& client, const std::string& line) {
    std::istringstream words(line);
    std::string command, channel, text;
    int x = 0, y = 0, red = 0, green = 0, blue = 0;
    words >> command;
    if (command == "frames" && words >> x) {
        const std::uint64_t wanted = client.frames() + static_cast<std::uint64_t>(x);
        const bool came = client.wait_frames(wanted, patience);
        return Json::object({{"ok", came}, {"frames", client.frames()}});
    }
    if (command == "colour" && words >> x >> y) return colour_at(client, x, y);
    if (command == "until" && words >> x >> y >> red >> green >> blue)
        return until(client, x, y,
                     {static_cast<std::uint8_t>(red), static_cast<std::uint8_t>(green),
                      static_cast<std::uint8_t>(blue)});
    if (command == "send" && words >> channel && std::getline(words >> std::ws, text))
        return Json::object(
            {{"ok", client.wait_channel(channel, patience) && client.send(channel, false, text)}});
    if (command == "sound") return Json::object({{"ok", true}, {"packets", client.sound_packets()}});
    return Json::object({{"ok", false}, {"error", "unknown command"}});
}

int run(const std::string& url, ClientWish wish) {
    Session session(url, std::move(wish));
    session.await_media();
    say(Json::object({{"connected", true}}));
    for (std::string line; std::getline(std::cin, line);) say(answer(session.client(), line));
    return 0;
}

}  // namespace

int main(int argc, char** argv) try {
    ClientWish wish;
    std::string url;
    for (int i = 1; i < argc; ++i) {
        const std::string word = argv[i];
        if (word == "--relay-only")
            wish.relay_only = true;
        else if (word == "--turn-url" && i + 1 < argc)
            wish.turn_url = argv[++i];
        else if (word == "--codecs" && i + 1 < argc)
            wish.codecs = split(argv[++i], ',');
        else
            url = word;
    }
    start_media();
    return run(url, std::move(wish));
} catch (const std::exception& e) {
    say(Json::object({{"error", e.what()}}));
    return 1;
}
