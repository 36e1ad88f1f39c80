// Each format of pixels, from a program's memory to the client's picture.
#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "instance-agent/libsvcguest/svcguest.h"
#include "instance-agent/streamer/guest_display/guest_display.h"
#include "tests/streamer/media/media_pair.h"

namespace svc::streamer {
namespace {

constexpr int draw_patience_ms = 60'000;
constexpr Colour seen_red{220, 20, 20};

// A program that has learned the mode.
struct Painter {
    bool ready = false;
    svcguest_display* display = nullptr;
    explicit Painter(const std::string& path) {
        svcguest_display_handlers handlers{};
        handlers.mode = [](void* user, const svcguest_display_mode*) { *static_cast<bool*>(user) = true; };
        display = svcguest_display_open(path.c_str(), &handlers, sizeof(handlers), &ready, nullptr);
        REQUIRE(display != nullptr);
        while (!ready) REQUIRE(svcguest_display_dispatch(display, draw_patience_ms) >= 0);
    }
    ~Painter() { svcguest_display_close(display); }
    Painter(const Painter&) = delete;
    Painter& operator=(const Painter&) = delete;

    void paint(std::uint32_t fourcc, const std::array<std::uint8_t, 4>& pixel) const {
        svcguest_pixels pixels{};
        const int buffer = svcguest_display_new_buffer(display, 320, 240, fourcc, &pixels);
        REQUIRE(buffer >= 0);
        for (std::size_t i = 0; i < std::size_t{320} * 240 * 4; ++i) pixels.at[i] = pixel[i % 4];
        REQUIRE(svcguest_display_present(display, static_cast<std::uint32_t>(buffer)) == 0);
    }
};

bool is_red(const ClientPicture& picture) {
    const Colour colour = picture.at(160, 120);
    for (std::size_t i = 0; i < colour.size(); ++i)
        if (std::abs(int{colour[i]} - int{seen_red[i]}) > 40) return false;
    return picture.width == 320 && picture.height == 240;
}

TEST_CASE("red is red in each format of shared pixels") {
    struct Row {
        std::uint32_t fourcc;
        std::array<std::uint8_t, 4> pixel;
    };
    for (const Row& row : {Row{SVCGUEST_RGBA, {220, 20, 20, 0}}, Row{SVCGUEST_RGBX, {220, 20, 20, 0}},
                           Row{SVCGUEST_BGRA, {20, 20, 220, 0}}, Row{SVCGUEST_BGRX, {20, 20, 220, 255}}}) {
        INFO(row.fourcc);
        const TemporaryDirectory folder(std::filesystem::temp_directory_path(), "svc-display-");
        const std::string path = (folder.path() / "display").string();
        MediaPair::Wish wish;
        wish.guest_display = std::make_shared<GuestDisplay>(path, DisplayMode{320, 240, 160, 30});
        const Painter painter(path);
        MediaPair pair(wish);
        pair.connect();
        painter.paint(row.fourcc, row.pixel);
        CHECK(pair.client().wait_picture(is_red, patience));
    }
}

}  // namespace
}  // namespace svc::streamer
