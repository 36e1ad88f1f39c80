#include "libsvc/client/captures.h"

#include <algorithm>
#include <utility>

#include "libsvc/base/strings.h"

namespace svc {

namespace {

constexpr std::size_t short_head = 8, long_head = 16;  // of a box: size, name, and a size of 64 bits

std::string capture_path(std::string_view instance, std::string_view what) {
    return "/1.0/instances/" + percent_encode(instance) + "/" + std::string(what);
}

std::uint64_t big_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
    return value;
}

}  // namespace

void take_screenshot(ApiClient& client, std::string_view instance,
                     std::function<void(std::string_view)> sink) {
    client.download(capture_path(instance, "screenshot"), "", std::move(sink));
}

void record_screen(ApiClient& client, std::string_view instance, std::chrono::seconds length,
                   std::function<void(std::string_view)> sink) {
    client.download(capture_path(instance, "recording?duration=" + std::to_string(length.count())), "",
                    std::move(sink));
}

void WholeFragments::take(std::string_view bytes) {
    while (!bytes.empty()) {
        if (!inside_) {
            head_ += bytes.front();
            bytes.remove_prefix(1);
            ++at_;
            if (!start_box()) continue;
        }
        const auto taken = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), left_));
        bytes.remove_prefix(taken);
        at_ += taken;
        left_ -= taken;
        inside_ = left_ != 0;
        if (!inside_ && media_) whole_ = at_;  // a fragment ends with its pictures
    }
}

// True: the head of the box is here. A size without sense makes a box without an end.
bool WholeFragments::start_box() {
    if (head_.size() < short_head) return false;
    std::uint64_t size = big_endian(std::string_view(head_).substr(0, 4));
    if (size == 1 && head_.size() < long_head) return false;
    if (size == 1) size = big_endian(std::string_view(head_).substr(short_head));
    left_ = size < head_.size() ? UINT64_MAX : size - head_.size();
    media_ = head_.compare(4, 4, "mdat") == 0;
    head_.clear();
    inside_ = true;
    return true;
}

}  // namespace svc
