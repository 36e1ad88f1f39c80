#include "instance-agent/streamer/media/video/display_encoders.h"

#include <fmt/format.h>

#include "instance-agent/streamer/media/video/codecs.h"
#include "libsvc/base/log.h"

namespace svc::streamer {
namespace {

std::string key_of(const DisplayEncoders::Wish& wish) {
    return fmt::format("{} {}x{} {} {} {} {}", to_text(wish.codec), wish.shape.width, wish.shape.height,
                       wish.shape.fps, static_cast<int>(wish.encoder), wish.places.display,
                       wish.places.frame_socket);
}

// An encoder that does not work leaves the display to the next one.
std::shared_ptr<DisplayEncoder> make(const DisplayEncoders::Wish& wish) {
    std::exception_ptr failure;
    for (const EncoderForm& form : usable_encoders(wish.codec, wish.encoder)) {
        const log::Fields fields{{"encoder", std::string(form.element)}};
        try {
            auto encoder = std::make_shared<DisplayEncoder>(wish.places, form, wish.shape, wish.kbps);
            log::info("the display is encoded", fields);
            return encoder;
        } catch (const Error& e) {
            log::warning(std::string("the display is not encoded: ") + e.what(), fields);
            failure = std::current_exception();
        }
    }
    if (failure) std::rethrow_exception(failure);
    throw Error(ErrorCode::unsupported, "the video encoder is gone");
}

}  // namespace

std::shared_ptr<DisplayEncoder> DisplayEncoders::get(const Wish& wish) {
    const std::string key = key_of(wish);
    std::lock_guard lock(mutex_);
    std::erase_if(entries_, [](const Entry& entry) { return entry.encoder.expired(); });
    for (const Entry& entry : entries_)
        if (entry.key == key)
            if (auto encoder = entry.encoder.lock()) return encoder;
    auto encoder = make(wish);
    entries_.push_back({key, encoder});
    return encoder;
}

}  // namespace svc::streamer
