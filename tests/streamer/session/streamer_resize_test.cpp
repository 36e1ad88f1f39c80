// Sizes that a client asks for while it watches.
#include "tests/streamer/session/streamer_place.h"
#include "tests/support/eventually.h"

using namespace svc;
using namespace svc::streamer;
using test::eventually;

namespace {

class PlayedScreen final : public Screen {
  public:
    ScreenSize resize(ScreenSize wish) override { return wish; }
    void set_density(int) override {}
};

struct ResizePlace : StreamerPlace {
    ResizePlace()
        : StreamerPlace([](StreamerParts& parts) { parts.screen = std::make_unique<PlayedScreen>(); }) {
        connect();
    }
    void ask(const std::string& data) { control(R"({"type":"display::resize","data":)" + data + "}"); }
    std::vector<std::pair<int, int>> sizes() {
        std::lock_guard lock(peers.mutex);
        return peers.sizes;
    }
    bool newest_is(int width, int height) {
        return eventually([&] {
            const auto all = sizes();
            return !all.empty() && all.back() == std::pair(width, height);
        });
    }
};

}  // namespace

TEST_CASE("the screen takes the size that its client asks for, and the display follows") {
    ResizePlace place;
    place.ask(R"({"width":801,"height":600,"density":160})");
    CHECK(place.newest_is(802, 600));
    place.streamer->stop();
    place.thread.join();
    CHECK(place.input->take() == std::vector<std::string>{"size 1280 720", "size 802 600", "release"});
}

TEST_CASE("of many sizes the newest is taken, a few times a second") {
    ResizePlace place;
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i)
        place.ask(R"({"width":)" + std::to_string(500 + 2 * i) + R"(,"height":600})");
    CHECK(place.newest_is(500 + 2 * 999, 600));
    const auto taken = std::chrono::steady_clock::now() - begin;
    CHECK(place.sizes().size() <= static_cast<std::size_t>(taken / ScreenResizes::pause) + 2);
}

TEST_CASE("a size that is none, or is there already, changes nothing") {
    ResizePlace place;
    for (const char* data : {R"({"width":-1,"height":600})", R"({"width":99999,"height":600})",
                             R"({"width":600})", R"({"width":"wide","height":600})", "{}",
                             R"({"width":1280,"height":720})", R"({"width":640,"height":480,"density":1})"})
        place.ask(data);
    place.ask(R"({"width":640,"height":480})");
    CHECK(place.newest_is(640, 480));
    CHECK(place.sizes().size() == 1);
}

TEST_CASE("a size beyond what is allowed is cut") {
    ResizePlace place;
    place.ask(R"({"width":16000,"height":9000})");
    CHECK(place.newest_is(3840, 2160));
}
