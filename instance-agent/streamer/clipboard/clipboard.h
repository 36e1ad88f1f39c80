#pragma once
// The guest's clipboard, as the client's channel uses it (docs/exchange.md).
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace svc::streamer {

constexpr std::size_t max_clipboard = 8U << 20;  // bytes of a content, in both directions

enum class ClipboardFormat { text, png };          // text is UTF-8
std::string_view to_text(ClipboardFormat format);  // "text/plain", "image/png"
std::optional<ClipboardFormat> parse_clipboard_format(std::string_view text);

struct ClipboardContent {
    ClipboardFormat format = ClipboardFormat::text;
    std::shared_ptr<const std::string> data;  // never null
};
// Not empty, not above the limit, and a picture has the signature of PNG.
bool is_sound(const ClipboardContent& content);

// Called on a thread of the clipboard; must return soon.
struct ClipboardEvents {
    std::function<void(ClipboardContent)> copied;  // by a program of the guest; it is sound
    std::function<void()> given;                   // programs of the guest get what give() brought
};

// Thread-safe. The destructor waits for calls of the events.
class Clipboard {
  public:
    virtual ~Clipboard() = default;
    virtual void give(ClipboardContent content) = 0;  // replaces what is in the guest's clipboard
    // While on, `copied` is called for what is there and for each change, four times a second at most; off at
    // first. Nothing of the guest is read while it is off.
    virtual void follow(bool on) = 0;
};

// The selection CLIPBOARD of an X server. Throws unavailable.
std::unique_ptr<Clipboard> make_x_clipboard(const std::string& display, ClipboardEvents events);

}  // namespace svc::streamer
