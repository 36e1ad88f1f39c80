#pragma once
// The display that an instance's platform and user data ask for (docs/guest-interface.md). Plain values: no
// threads.
#include <cstdint>
#include <string_view>

namespace svc::agent {

struct DisplaySettings {
    std::uint32_t width = 1280, height = 720;  // pixels, even
    std::uint32_t fps = 60;                    // frames per second
    std::uint32_t density = 240;               // dots per inch
};

// Whether the instance streams: "swrast" and "webrtc" do, "null" and "" do not.
bool streams(std::string_view platform);

// {"display_width":...,"display_height":...,"fps":...,"display_density":...} of the user data; on a platform
// other than "webrtc" also "<width>,<height>[,<fps>[,<density>]]". Any other text, and a value that is out of
// range, means the default. Odd sizes become even. Without a value the density is 240 on "webrtc", else 160.
DisplaySettings read_display_settings(std::string_view platform, std::string_view user_data);

}  // namespace svc::agent
