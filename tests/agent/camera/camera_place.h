#pragma once
// A camera with guests that look and writers that feed it.
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <future>

#include "instance-agent/agent/devices/camera/camera_device.h"
#include "tests/agent/camera/jpeg_maker.h"
#include "tests/agent/devices/device_place.h"
#include "tests/agent/guest/guest_client.h"
#include "tests/support/eventually.h"

namespace svc::test {

inline constexpr std::uint32_t black = 0xFF000000, red = 0xFF0000FF, green = 0xFF00FF00, blue = 0xFFFF0000;

// Keeps what it is sent. Thread-safe.
class CameraGuest final : public agent::GuestSession {
  public:
    explicit CameraGuest(std::uint64_t id, bool may_control = true) : id_(id), may_control_(may_control) {}
    std::uint64_t id() const override { return id_; }
    uid_t uid() const override { return 0; }
    bool may_control() const override { return may_control_; }
    bool open() const override { return true; }
    void send_event(const Json& event) override {
        std::lock_guard lock(mutex_);
        events_.push_back(event.dump());
    }
    bool send_frame(std::uint16_t stream, std::string_view header) override {
        {
            std::lock_guard lock(mutex_);
            if (clogged) return false;
            frames_.push_back(std::to_string(stream) + ":" + std::string(header));
        }
        changed_.notify_all();
        return true;
    }
    std::string frame(std::size_t number) {  // blocks until it is there
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return frames_.size() > number; });
        return frames_[number];
    }
    std::size_t frames() const {
        std::lock_guard lock(mutex_);
        return frames_.size();
    }
    std::vector<std::string> events() const {
        std::lock_guard lock(mutex_);
        return events_;
    }
    std::atomic<bool> clogged{false};

  private:
    const std::uint64_t id_;
    const bool may_control_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::string> frames_, events_;
};

struct SeenFrame {
    std::uint16_t stream = 0;
    std::uint32_t width = 0, height = 0, stride = 0, fourcc = 0, size = 0, slot = 0;
    const std::uint32_t* pixels = nullptr;
    std::uint32_t at(std::uint32_t x, std::uint32_t y) const { return pixels[std::size_t{y} * width + x]; }
};

// A writer of video. What it sends never waits longer than 20 s.
class VideoWriter {
  public:
    explicit VideoWriter(const std::filesystem::path& path)
        : socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path.native().copy(address.sun_path, sizeof(address.sun_path) - 1);
        const timeval limit{20, 0};
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
        ::setsockopt(socket_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
        connected_ =
            ::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
    }
    bool connected() const { return connected_; }
    bool write(std::string_view bytes) const {
        while (!bytes.empty()) {
            const ssize_t sent = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (sent <= 0) return false;
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        }
        return true;
    }
    bool is_closed() const {  // waits for it
        char byte = 0;
        const ssize_t got = ::recv(socket_.get(), &byte, 1, 0);
        return got == 0 || (got < 0 && errno == ECONNRESET);
    }
    void close() { socket_.reset(); }

  private:
    FileDescriptor socket_;
    bool connected_ = false;
};

inline std::string plain_frame(unsigned width, unsigned height, std::uint32_t colour) {
    std::string frame(std::size_t{width} * height * 4, '\0');
    for (std::size_t i = 0; i < frame.size(); ++i) frame[i] = static_cast<char>(colour >> 8 * (i % 4));
    return frame;
}

// Red and blue as they are after a JPEG.
inline bool alike(std::uint32_t one, std::uint32_t other) {
    for (unsigned shift = 0; shift < 32; shift += 8) {
        const int difference =
            static_cast<int>(one >> shift & 0xFF) - static_cast<int>(other >> shift & 0xFF);
        if (difference > 4 || difference < -4) return false;
    }
    return true;
}

struct CameraPlace : DevicePlace {
    static inline const std::string path = "/1.0/camera", data = "/1.0/camera/data";

    CameraPlace() { start(); }
    ~CameraPlace() {
        if (memory != nullptr) ::munmap(memory, memory_bytes);
    }
    void start() {
        device = std::make_unique<agent::CameraDevice>(context(), tracer, display.screen(), link);
        caller = std::make_unique<DeviceCaller>(*device);
        feature = device->guest_feature();
    }
    std::string toggle(bool on) const {  // the path
        const Json answer =
            caller->ask(Method::post, path, on ? R"({"enable":true})" : R"({"enable":false})");
        REQUIRE(answer.at("status_code").as_int() == 200);
        const Json* metadata = answer.find("metadata");
        return metadata != nullptr ? metadata->at("video_stream_socket").as_string() : "";
    }
    std::string post_image(const std::string& image) {  // "201", or "400 text"
        Request request;
        request.method = Method::post;
        request.body = image;
        Router router(device->routes());
        std::promise<Response> promise;
        try {
            Response response = router.match(Method::post, data).route->handler(request);
            REQUIRE(response.later);
            response.later([&](Response late) { promise.set_value(std::move(late)); });
            const Response late = promise.get_future().get();
            return outcome_of(Json::parse(late.body));
        } catch (const Error& e) {
            return outcome_of(Json::parse(agent::failure(e).body));
        }
    }
    static std::string outcome_of(const Json& body) {
        if (const Json* error = body.find("error"))
            return std::to_string(body.at("error_code").as_int()) + " " + error->as_string();
        return std::to_string(body.at("status_code").as_int());
    }
    Json op(const std::shared_ptr<CameraGuest>& who, const std::string& name, const std::string& members) {
        const Json request = Json::parse(members);
        try {
            return feature.ops.at(name)(who, JsonFields(request)).members;
        } catch (const Error& e) {
            return e.what();
        }
    }
    Json turn(const std::string& orientation) {
        const Json request = Json::object({{"orientation", orientation}});
        return display.guest_feature().ops.at("display.set_orientation")(guest, JsonFields(request)).members;
    }
    // Opens the camera for `guest`, at 10 frames a second.
    Json open(unsigned width, unsigned height) {
        const Json request =
            Json::object({{"camera", "0"}, {"width", width}, {"height", height}, {"fps", 10}});
        opened_at_ = next_ = guest->frames();
        agent::GuestAnswer answer = feature.ops.at("camera.open")(guest, JsonFields(request));
        if (memory != nullptr) ::munmap(memory, memory_bytes);
        slot_bytes = static_cast<std::size_t>(answer.members.at("slot_bytes").as_int());
        memory_bytes = slot_bytes * static_cast<std::size_t>(answer.members.at("slots").as_int());
        memory = ::mmap(nullptr, memory_bytes, PROT_READ, MAP_SHARED, answer.descriptor.get(), 0);
        REQUIRE(memory != MAP_FAILED);
        shared = std::move(answer.descriptor);
        handle = static_cast<std::uint16_t>(answer.members.at("handle").as_int());
        return std::move(answer.members);
    }
    void tick() {
        clock.await_waiters(1);
        clock.advance(std::chrono::milliseconds(100));
    }
    // The next frame, which comes by itself right after opening.
    SeenFrame look() {
        if (next_ != opened_at_ && guest->frames() <= next_) tick();
        return seen(guest->frame(next_++));
    }
    void give_back(const SeenFrame& frame, std::size_t bytes = 4) {
        std::string payload(bytes, '\0');
        payload[0] = static_cast<char>(frame.slot);
        feature.binary(guest, frame.stream, payload);
    }
    // The middle of a frame of now.
    std::uint32_t colour() {
        const SeenFrame frame = look();
        const std::uint32_t colour = frame.at(frame.width / 2, frame.height / 2);
        give_back(frame);
        return colour;
    }
    bool shows(std::uint32_t wanted) {  // at last
        return eventually([&] { return alike(colour(), wanted); });
    }
    SeenFrame seen(const std::string& message) const {
        SeenFrame frame;
        const std::size_t colon = message.find(':');
        frame.stream = static_cast<std::uint16_t>(std::stoi(message.substr(0, colon)));
        REQUIRE(message.size() == colon + 33);
        std::uint32_t* const fields[] = {&frame.width,  &frame.height, &frame.stride,
                                         &frame.fourcc, &frame.size,   &frame.slot};
        for (std::size_t i = 0; i < 6; ++i) std::memcpy(fields[i], message.data() + colon + 9 + i * 4, 4);
        REQUIRE((frame.slot + 1) * slot_bytes <= memory_bytes);
        frame.pixels = reinterpret_cast<const std::uint32_t*>(static_cast<const char*>(memory) +
                                                              frame.slot * slot_bytes);
        return frame;
    }

    agent::DisplayDevice display;
    std::unique_ptr<agent::CameraDevice> device;
    std::unique_ptr<DeviceCaller> caller;
    agent::GuestFeature feature;
    std::shared_ptr<CameraGuest> guest = std::make_shared<CameraGuest>(1);
    FileDescriptor shared;
    void* memory = nullptr;
    std::size_t memory_bytes = 0, slot_bytes = 0;
    std::uint16_t handle = 0;

  private:
    std::size_t next_ = 0, opened_at_ = 0;
};

}  // namespace svc::test
