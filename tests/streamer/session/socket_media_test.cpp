// Pictures and sound of the guest to a client whose media goes through the gateway.
#include <atomic>
#include <catch2/catch.hpp>
#include <future>

#include "instance-agent/streamer/client/socket_peer.h"
#include "libsvc/base/error.h"
#include "tests/streamer/session/played_media.h"

namespace svc::streamer {
namespace {

constexpr int last_flag = 2, sound_flag = 4;

// What the encoders were asked for, and whom they feed.
struct PlayedEncoders {
    VideoListener video;
    SoundListener sound;
    std::string audio_server = "nobody asked";
    std::atomic<int> key_frames = 0;  // that were asked for
    std::string spoken;
    bool has_sound = true;

    OpenVideo open_video() {
        struct Video final : EncodedVideo {
            explicit Video(std::atomic<int>& asked) : key_frames(asked) {}
            std::atomic<int>& key_frames;
            void request_key_frame() override { ++key_frames; }
            void set_kbps(std::uint32_t) override {}
            std::uint32_t kbps() const override { return 1000; }
            void add_to(StreamStats&) const override {}
        };
        return [this](const PeerSetup&, VideoCodec, VideoListener listener) {
            video = std::move(listener);
            return std::make_unique<Video>(key_frames);
        };
    }
    OpenMicrophone open_microphone() {
        struct Feed final : MicrophoneFeed {
            explicit Feed(PlayedEncoders& played) : encoders(played) {}
            PlayedEncoders& encoders;
            void play(std::string_view packet) override { encoders.spoken += packet; }
        };
        return [this](const std::string& server) {
            audio_server = server;
            return std::make_unique<Feed>(*this);
        };
    }
    OpenSound open_sound() {
        struct Sound final : EncodedSound {
            double bits_per_second() const override { return 96000; }
        };
        return [this](const std::string& server, SoundListener listener) {
            if (!has_sound) throw Error(ErrorCode::unavailable, "the sound server is broken");
            audio_server = server;
            sound = std::move(listener);
            return std::make_unique<Sound>();
        };
    }
};

struct Told final : PeerEvents {
    void local_offer(const std::string&) override {}
    void local_candidate(const std::string&, unsigned) override {}
    void connected() override {}
    void failed(const std::string& reason) override { failure = reason; }
    void left() override {}
    void channel_opened(const std::string&) override { begun.set(); }
    void channel_closed(const std::string&) override {}
    void channel_message(const std::string&, bool, std::string_view text) override {
        message.set_value(std::string(text));
    }
    std::string failure;
    test::Signal begun;
    std::promise<std::string> message;  // of the control channel: there may be one
};

PeerSetup setup_with(bool speaker) {
    PeerSetup setup;
    setup.settings.microphone = true;
    setup.settings.speaker = speaker;
    setup.places.audio_server = "/run/sound";
    return setup;
}

// A client that has begun, with `members` in its first message.
struct Listening {
    test::PlayedMedia media;
    PlayedEncoders encoders;
    Told events;
    std::optional<SocketPeer> peer;

    explicit Listening(const std::string& members, bool speaker = true, bool has_sound = true) {
        encoders.has_sound = has_sound;
        peer.emplace(setup_with(speaker), "c1", media.address(), std::vector{VideoCodec::h264},
                     encoders.open_video(), encoders.open_sound(), encoders.open_microphone(), events);
        media.send(R"({"type":"begin","codecs":["H264"])" + members + "}");
        CHECK(media.next().bytes == R"({"type":"began","codec":"H264"})");
        events.begun.wait();
    }
    void play(std::int64_t time, const std::string& bytes) {
        encoders.sound({time, std::make_shared<const std::string>(bytes)});
    }
    // Binary messages of the client; what it has said when they are through.
    std::string speak(const std::vector<std::string>& messages) {
        for (const std::string& message : messages) media.send_binary(message);
        media.send("{}");
        events.message.get_future().get();
        return encoders.spoken;
    }
    void show(std::size_t size) {
        encoders.video.frame({true, 1, std::make_shared<const std::string>(size, 'v')});
    }
};

TEST_CASE("a client that asks for sound gets its packets in their order") {
    Listening t(R"(,"sound":true)");
    CHECK(t.encoders.audio_server == "/run/sound");
    for (int i = 0; i < 3; ++i) {
        t.play(0x0102 + i, "packet " + std::to_string(i));
        const test::MediaMessage heard = t.media.next();
        CHECK(heard.binary);
        CHECK(heard.flags() == sound_flag);
        CHECK(heard.bytes.substr(1, 8) == std::string(6, '\0') + '\1' + static_cast<char>(2 + i));
        CHECK(heard.content() == "packet " + std::to_string(i));
    }
    const StreamStats sound = t.peer->stats().streams.at(1);
    CHECK(sound.kind == "audio");
    CHECK(sound.packets_sent == 3);
    CHECK(sound.bytes_sent == 3 * (9 + 8));
    CHECK(sound.target_bitrate == 96000);
}

TEST_CASE("a client that asks for no sound costs no encoder of sound") {
    Listening t(GENERATE(R"(,"sound":false)", ""));
    CHECK_FALSE(t.encoders.sound);
    CHECK(t.peer->stats().streams.size() == 1);
}

TEST_CASE("a client whose settings want no sound gets none") {
    Listening t(R"(,"sound":true)", false);
    CHECK_FALSE(t.encoders.sound);
}

TEST_CASE("sound that cannot be encoded leaves the pictures") {
    Listening t(R"(,"sound":true)", true, false);
    t.show(1);
    CHECK(t.media.next().content() == "v");
    CHECK(t.events.failure.empty());
}

TEST_CASE("sound goes between the pieces of a picture that the client takes slowly, its newest packets") {
    Listening t(R"(,"sound":true)");
    t.media.stop_reading();
    t.show(48U << 20);  // more than the kernel keeps
    CHECK(t.media.next().flags() == 1);
    constexpr int played = 100;
    for (int i = 0; i < played; ++i) t.play(i, std::string(1, static_cast<char>(i)));
    t.media.read_again();
    std::vector<int> heard;
    for (int flags = 0; (flags & last_flag) == 0;) {
        const test::MediaMessage message = t.media.next();
        flags = message.flags();
        if (flags == sound_flag) heard.push_back(message.content().at(0));
    }
    REQUIRE_FALSE(heard.empty());
    CHECK(std::ranges::is_sorted(heard));
    CHECK(heard.back() == played - 1);
}

TEST_CASE("a client that has left pictures out gets a key frame when it asks, and the streamer no message") {
    Listening t("");
    t.show(1);
    CHECK(t.media.next().flags() == 3);
    const int before = t.encoders.key_frames;  // for its beginning
    t.media.send(R"({"type":"media::key-frame"})");
    t.media.send(R"({"type":"other"})");
    CHECK(t.events.message.get_future().get() == R"({"type":"other"})");
    CHECK(t.encoders.key_frames == before + 1);
}

std::string spoken_packet(const std::string& opus, char flags = sound_flag) {
    return flags + std::string(8, '\0') + opus;
}

TEST_CASE("what the client says reaches the guest, and nothing that is no packet") {
    Listening t("");
    CHECK(t.speak({spoken_packet("one "), spoken_packet("picture", 3), "", spoken_packet(""),
                   spoken_packet(std::string(1500, 'x')), spoken_packet("two")}) == "one two");
    CHECK(t.encoders.audio_server == "/run/sound");
}

TEST_CASE("a client that watches is not heard") {
    Listening t("");
    t.peer->set_watching(true);
    CHECK(t.speak({spoken_packet("one")}).empty());
}

TEST_CASE("sound that nobody takes is the newest, and bounded") {
    SoundQueue queue;
    CHECK_FALSE(queue.take());
    const auto last = static_cast<std::int64_t>(3 * SoundQueue::most);
    for (std::int64_t time = 1; time <= last; ++time) queue.add({time, nullptr});
    for (std::int64_t time = last - SoundQueue::most + 1; time <= last; ++time)
        CHECK(queue.take()->time == time);
    CHECK(queue.empty());
}

}  // namespace
}  // namespace svc::streamer
