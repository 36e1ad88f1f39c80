#pragma once
// What encodes the display of an application's instances (specification: Manifest YAML keys, video-encoder).
#include <string_view>

namespace svc {

// A GPU; a GPU where the instance has one; the processor.
enum class VideoEncoder { gpu, gpu_preferred, software };
std::string_view to_text(VideoEncoder value);
VideoEncoder parse_video_encoder(std::string_view field, std::string_view text);  // throws invalid_argument

}  // namespace svc
