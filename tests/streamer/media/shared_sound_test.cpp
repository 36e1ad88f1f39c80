// Sound for clients that it reaches without RTP: one encoder for all of them.
#include <gst/gst.h>

#include <catch2/catch.hpp>
#include <condition_variable>
#include <mutex>

#include "instance-agent/streamer/media/gstreamer/gst_handles.h"
#include "instance-agent/streamer/media/sound/shared_sound.h"
#include "instance-agent/streamer/media/video/codecs.h"
#include "tests/support/eventually.h"

namespace svc::streamer {
namespace {

struct Ear {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<SoundPacket> heard;

    SoundListener listener() {
        return [this](const SoundPacket& packet) {
            std::lock_guard lock(mutex);
            heard.push_back(packet);
            changed.notify_all();
        };
    }
    bool hears(std::size_t count) {
        std::unique_lock lock(mutex);
        return changed.wait_for(lock, test::long_wait, [&] { return heard.size() >= count; });
    }
};

TEST_CASE("two listeners hear the packets of one encoder, in their order") {
    start_media();
    const OpenSound open = shared_sound();
    Ear first, second;
    const auto one = open("", first.listener());
    const auto other = open("", second.listener());
    REQUIRE(second.hears(2));
    REQUIRE(first.hears(2));
    std::scoped_lock lock(first.mutex, second.mutex);
    const SoundPacket& shared = second.heard.front();
    CHECK(std::ranges::any_of(first.heard,
                              [&](const SoundPacket& packet) { return packet.bytes == shared.bytes; }));
    CHECK(std::ranges::is_sorted(first.heard, {}, &SoundPacket::time));
    CHECK(one->bits_per_second() == 96000);
}

TEST_CASE("a listener hears nothing once it is gone, and the others do") {
    start_media();
    const OpenSound open = shared_sound();
    Ear first, second;
    auto one = open("", first.listener());
    const auto other = open("", second.listener());
    REQUIRE(first.hears(1));
    one.reset();
    const std::size_t before = first.heard.size();
    REQUIRE(second.hears(before + 3));
    CHECK(first.heard.size() == before);
}

}  // namespace
}  // namespace svc::streamer
