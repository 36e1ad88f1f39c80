#include "instance-agent/agent/devices/camera/camera_feed.h"

#include "instance-agent/agent/processes/boot_time.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"

namespace svc::agent {
namespace {

constexpr std::uint32_t fourcc = 'R' | 'G' << 8 | 'B' << 16 | std::uint32_t{'A'} << 24;

void put_number(std::string& out, std::uint64_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> 8 * i & 0xFF);
}

// The header of a frame message: 32 bytes (docs/guest-interface.md, Camera frames).
std::string frame_header(Resolution size, int slot) {
    std::string header;
    put_number(header, static_cast<std::uint64_t>(boot_time()), 8);
    for (const std::uint64_t value :
         {std::uint64_t{size.width}, std::uint64_t{size.height}, std::uint64_t{size.width} * pixel_bytes,
          std::uint64_t{fourcc}, std::uint64_t{size.bytes()}, static_cast<std::uint64_t>(slot)})
        put_number(header, value, 4);
    return header;
}

Repeater::Key key_of(std::uint16_t handle) {
    return {handle, 0};
}

}  // namespace

CameraFeed::CameraFeed(Clock& clock, MetricsRegistry& metrics, std::shared_ptr<const Screen> screen,
                       StreamLink& link)
    : screen_(std::move(screen)),
      frames_(metrics.counter("runtime_camera_frames_total", "Camera frames told to guests")),
      link_(link),
      repeater_(clock, "camera") {}

void CameraFeed::show(PicturePtr picture) {
    state_.with([&](State& state) {
        state.picture.swap(picture);
        state.fitted.reset();
        state.picture_version = ++state.last_version;
    });
}

void CameraFeed::begin_stream() {
    state_.with([](State& state) { state.live.begin(); });
}

void CameraFeed::end_stream() {
    state_.with([](State& state) { state.live.end(); });
}

StreamRoom CameraFeed::room() {
    const bool is_turned = rotation() != Rotation::none;
    return state_.with([&](State& state) {
        state.live.keep_private(is_turned);
        return state.live.room();
    });
}

void CameraFeed::took(StreamRoom room, std::size_t bytes) {
    state_.with([&](State& state) { state.live.took(std::move(room), bytes, ++state.last_version); });
}

Rotation CameraFeed::rotation() const {
    switch (screen_->orientation()) {
        case Orientation::portrait:
            return Rotation::right;
        case Orientation::reverse_landscape:
            return Rotation::half;
        case Orientation::reverse_portrait:
            return Rotation::left;
        case Orientation::landscape:
            break;
    }
    return Rotation::none;
}

bool CameraFeed::State::is_open(const GuestSession& session, std::uint16_t handle) const {
    return opened && opened->handle == handle && opened->session->id() == session.id();
}

GuestAnswer CameraFeed::open(const GuestSessionPtr& session, Resolution size, unsigned rate) {
    const Resolution shown = rotated(size, rotation());
    return state_.with([&](State& state) {
        if (state.opened) throw Error(ErrorCode::busy, "camera busy");
        const auto frames = std::make_shared<SharedFrames>(size.bytes());
        GuestAnswer answer{Json::object({{"handle", static_cast<unsigned>(state.last_handle + 1) & 0xFFFF},
                                         {"width", shown.width},
                                         {"height", shown.height},
                                         {"stride", shown.width * pixel_bytes},
                                         {"slots", SharedFrames::slots},
                                         {"slot_bytes", frames->slot_bytes()},
                                         {"format", "rgba"}}),
                           frames->descriptor()};
        state.opened = Opened{session, ++state.last_handle, size, frames};
        state.live.set_frames(size, frames.get());
        state.fitted.reset();
        repeater_.start(key_of(state.last_handle), Duration(std::chrono::seconds(1)) / rate,
                        [this] { deliver(); });
        link_.camera_opened({state.last_handle, camera_id, camera_facing, size.width, size.height, rate});
        return answer;
    });
}

std::optional<CameraFeed::Opened> CameraFeed::shut(State& state) {
    if (!state.opened) return std::nullopt;
    repeater_.stop(key_of(state.opened->handle));
    link_.camera_closed(state.opened->handle);
    state.live.set_frames(camera_resolutions[0], nullptr);
    state.fitted.reset();
    return std::exchange(state.opened, std::nullopt);
}

void CameraFeed::close(const GuestSession& session, std::uint16_t handle) {
    const auto closed = state_.with([&](State& state) {
        if (!state.is_open(session, handle)) throw Error(ErrorCode::invalid_argument, "camera is not open");
        return shut(state);
    });
}

void CameraFeed::leave(const GuestSession& session) {
    const auto closed = state_.with([&](State& state) -> std::optional<Opened> {
        if (!state.opened || !state.is_open(session, state.opened->handle)) return std::nullopt;
        return shut(state);
    });
}

void CameraFeed::expel(std::string_view reason) {
    const auto closed = state_.with([&](State& state) { return shut(state); });
    if (!closed) return;
    closed->session->send_event(
        Json::object({{"event", "camera.closed"}, {"handle", closed->handle}, {"reason", reason}}));
}

void CameraFeed::give_back(const GuestSession& session, std::uint16_t handle, std::uint32_t slot) {
    state_.with([&](State& state) {
        if (state.is_open(session, handle)) state.opened->frames->give_back(slot);
    });
}

void CameraFeed::deliver() try {
    const PicturePtr unused = fit_to_guest();
    std::optional<Shot> shot = plan();
    if (!shot) return;
    if (shot->target->content != shot->content) fill(*shot);
    tell(std::move(*shot));
} catch (const std::exception& e) {
    log::warning("a camera frame is lost", {{"error", e.what()}});
}

// Scales a picture once when the guest has opened another size.
PicturePtr CameraFeed::fit_to_guest() {
    PicturePtr picture;
    const auto size = state_.with([&](State& state) -> std::optional<Resolution> {
        if (!state.opened || state.fitted || !state.picture) return std::nullopt;
        picture = state.picture;
        return state.opened->size;
    });
    if (!size) return nullptr;
    const PicturePtr fitted =
        picture->size() == *size ? picture : std::make_shared<const Picture>(fit_picture(*picture, *size));
    state_.with([&](State& state) {
        if (state.opened && state.opened->size == *size && state.picture == picture) state.fitted = fitted;
    });
    return picture;
}

// True: the live stream has a frame. A frame in shared memory is sent as it is, another one is copied.
bool CameraFeed::plan_live(State& state, Shot& shot) {
    const FrameBufferPtr& newest = state.live.newest();
    if (!newest) return false;
    shot.content.version = newest->content->version;
    if (newest->slot >= 0 && shot.content.rotation == Rotation::none) {
        if (!newest->out) shot.target = newest;
    } else if ((shot.target = shot.to.frames->take(shot.content))) {
        shot.live = newest;
    }
    return true;
}

// Nothing: no guest has the camera open, or the guest holds every slot.
std::optional<CameraFeed::Shot> CameraFeed::plan() {
    const Rotation turn = rotation();
    return state_.with([&](State& state) -> std::optional<Shot> {
        if (!state.opened) return std::nullopt;
        Shot shot;
        shot.to = *state.opened;
        shot.content.rotation = turn;
        if (!plan_live(state, shot)) {
            if (state.picture && !state.fitted) return std::nullopt;
            shot.picture = state.fitted;
            shot.content.version = state.picture ? state.picture_version : 0;
            shot.target = shot.to.frames->take(shot.content);
        }
        if (!shot.target) return std::nullopt;
        return shot;
    });
}

void CameraFeed::fill(const Shot& shot) {
    std::uint32_t* const to = shot.target->pixels();
    if (shot.live)
        rotate_pixels(shot.live->pixels(), shot.to.size, shot.content.rotation, to);
    else if (shot.picture)
        rotate_pixels(shot.picture->pixels(), shot.to.size, shot.content.rotation, to);
    else
        fill_black(to, shot.to.size.pixels());
}

void CameraFeed::tell(Shot shot) {
    const int slot = shot.target->slot;
    const bool is_open = state_.with([&](State& state) {
        shot.target->content = shot.content;
        const bool open = state.opened && state.opened->handle == shot.to.handle;
        shot.target->out = open;
        shot.target.reset();
        shot.live.reset();
        return open;
    });
    if (!is_open) return;
    const Resolution size = rotated(shot.to.size, shot.content.rotation);
    if (shot.to.session->send_frame(shot.to.handle, frame_header(size, slot)))
        frames_.add();
    else
        give_back(*shot.to.session, shot.to.handle, static_cast<std::uint32_t>(slot));
}

}  // namespace svc::agent
