#pragma once
// A display of a guest, and a program that draws it with libsvcguest and writes down what it is told.
#include <fmt/format.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "instance-agent/libsvcguest/svcguest.h"
#include "instance-agent/streamer/guest_display/guest_display.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

inline constexpr int patience_ms = 60'000;
using Lines = std::vector<std::string>;

struct DisplayPlace {
    TemporaryDirectory folder{std::filesystem::temp_directory_path(), "svc-display-"};
    std::string path = (folder.path() / "display").string();
    Guarded<std::shared_ptr<const RawFrame>> seen;  // outlives the display, whose thread writes it
    std::shared_ptr<GuestDisplay> display = make();

    std::shared_ptr<GuestDisplay> make() const {
        return std::make_shared<GuestDisplay>(path, DisplayMode{64, 48, 160, 30});
    }
    int watch() {
        return display->watch([this](std::shared_ptr<const RawFrame> frame) {
            seen.with([&](auto& newest) { newest.swap(frame); });
        });
    }
    // The first byte of the frame that is shown; -1: there is none.
    int first_byte() {
        return seen.with([](const auto& frame) { return frame ? int{frame->pixels[0]} : -1; });
    }
};

// Writes down what its handlers are told.
struct DisplayProgram {
    Lines told;
    svcguest_display* display = nullptr;
    svcguest_pixels pixels{};

    explicit DisplayProgram(const std::string& path) {
        svcguest_display_handlers handlers{};
        handlers.mode = [](void* user, const svcguest_display_mode* mode) {
            note(user, fmt::format("mode {}x{} {} {} {}", mode->width, mode->height, mode->density, mode->fps,
                                   mode->watched));
        };
        handlers.released = [](void* user, std::uint32_t buffer) {
            note(user, "released " + std::to_string(buffer));
        };
        handlers.disconnected = [](void* user, const char* reason) {
            note(user, std::string("disconnected: ") + reason);
        };
        handlers.input = [](void* user, const svcguest_input* input) { note(user, line_of(*input)); };
        int error = 1;
        display = svcguest_display_open(path.c_str(), &handlers, sizeof(handlers), &told, &error);
        REQUIRE(display != nullptr);
        CHECK(error == 0);
    }
    ~DisplayProgram() {
        if (display != nullptr) svcguest_display_close(display);
    }
    DisplayProgram(const DisplayProgram&) = delete;
    DisplayProgram& operator=(const DisplayProgram&) = delete;

    static void note(void* user, const std::string& line) { static_cast<Lines*>(user)->push_back(line); }
    static std::string line_of(const svcguest_input& input) {
        switch (input.type) {
            case SVCGUEST_POINTER:
                return fmt::format("pointer {} {}", input.x, input.y);
            case SVCGUEST_POINTER_BY:
                return fmt::format("by {} {}", input.x, input.y);
            case SVCGUEST_WHEEL:
                return fmt::format("wheel {} {}", input.x, input.y);
            case SVCGUEST_BUTTON:
                return fmt::format("button {:#x} {}", input.code, input.pressed);
            case SVCGUEST_KEY:
                return fmt::format("key {} {}", input.code, input.pressed);
            case SVCGUEST_TOUCH_DOWN:
                return fmt::format("down {} {} {}", input.id, input.x, input.y);
            case SVCGUEST_TOUCH_MOVE:
                return fmt::format("move {} {} {}", input.id, input.x, input.y);
            case SVCGUEST_TOUCH_UP:
                return fmt::format("up {}", input.id);
            case SVCGUEST_TEXT:
                return fmt::format("text {}", input.text);
            case SVCGUEST_PAD_BUTTON:
                return fmt::format("pad {} {:#x} {}", input.id, input.code, input.pressed);
            default:
                return fmt::format("axis {} {} {}", input.id, input.code, input.value);
        }
    }
    // The next lines, as many as these.
    Lines next(std::size_t count) {
        while (told.size() < count)
            if (svcguest_display_dispatch(display, patience_ms) <= 0) break;
        return std::exchange(told, {});
    }
    std::uint32_t new_buffer(std::uint32_t fourcc = SVCGUEST_RGBA) {
        const int number = svcguest_display_new_buffer(display, 64, 48, fourcc, &pixels);
        REQUIRE(number >= 0);
        return static_cast<std::uint32_t>(number);
    }
    int draw(std::uint32_t buffer, std::uint8_t first) {
        pixels.at[0] = first;
        return svcguest_display_present(display, buffer);
    }
};

}  // namespace svc::streamer
