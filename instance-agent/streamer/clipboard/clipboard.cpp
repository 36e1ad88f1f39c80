#include "instance-agent/streamer/clipboard/clipboard.h"

namespace svc::streamer {

namespace {

constexpr std::string_view text_name = "text/plain", png_name = "image/png";
constexpr std::string_view png_signature("\x89PNG\r\n\x1a\n", 8);

}  // namespace

std::string_view to_text(ClipboardFormat format) {
    return format == ClipboardFormat::text ? text_name : png_name;
}

std::optional<ClipboardFormat> parse_clipboard_format(std::string_view text) {
    if (text == text_name) return ClipboardFormat::text;
    if (text == png_name) return ClipboardFormat::png;
    return std::nullopt;
}

bool is_sound(const ClipboardContent& content) {
    const std::string& data = *content.data;
    if (data.empty() || data.size() > max_clipboard) return false;
    return content.format == ClipboardFormat::text || data.starts_with(png_signature);
}

}  // namespace svc::streamer
