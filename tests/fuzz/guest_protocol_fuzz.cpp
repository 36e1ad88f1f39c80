// Whatever a guest sends: framing, JSON, the ops of all devices; and the C library's reader of JSON.
#include <algorithm>

#include "instance-agent/agent/agent_devices.h"
#include "instance-agent/agent/guest/guest_protocol.h"
#include "libsvc/base/error.h"
extern "C" {
#include "instance-agent/libsvcguest/json_reader.h"
}
#include "tests/fuzz/target.h"

namespace svc::fuzz::guest_protocol_target {

namespace {

using namespace svc;
using namespace svc::agent;

class SilentSession final : public GuestSession {
  public:
    explicit SilentSession(std::uint64_t id) : id_(id) {}
    std::uint64_t id() const override { return id_; }
    uid_t uid() const override { return 0; }
    bool may_control() const override { return true; }
    void send_event(const Json& event) override { (void)event.dump(); }
    bool send_frame(std::uint16_t, std::string_view) override { return true; }
    bool open() const override { return true; }

  private:
    std::uint64_t id_;
};

struct World {
    World()
        : directory(std::filesystem::temp_directory_path(), "fuzz-"),
          devices(context()),
          protocol(devices.features()) {}
    DeviceContext context() {
        Paths paths;
        paths.data = directory.path() / "data";
        paths.guest = directory.path();
        return DeviceContext{paths, directory.path(), {}, "webrtc", true, false, metrics, clock};
    }
    TemporaryDirectory directory;
    MetricsRegistry metrics;
    SystemClock clock;
    AgentDevices devices;
    GuestProtocol protocol;
    std::uint64_t last_session = 0;
};

void converse(World& world, MessageReader& reader, const GuestSessionPtr& session, bool& greeted) {
    while (const auto message = reader.next()) {
        const auto reply = world.protocol.take(session, greeted, *message);
        greeted = greeted || reply.greeted;
        if (reply.answer) (void)reply.answer->members.dump();
        if (reply.close) return;
    }
}

void read_with_c(std::string_view text) {
    const json_text value = json_value(text.data(), text.data() + text.size());
    char buffer[64];
    double number = 0;
    std::int64_t integer = 0;
    bool truth = false;
    for (const char* name : {"op", "id", "value", "values", "sentences"}) {
        const json_text member = json_member(value, name);
        json_to_string(member, buffer, sizeof(buffer));
        json_to_double(member, &number);
        json_to_int64(member, &integer);
        json_to_bool(member, &truth);
        const char* cursor = nullptr;
        while (json_next_item(member, &cursor).at != nullptr) continue;
    }
}

}  // namespace

FUZZ_TARGET(guest_protocol)(const std::uint8_t* data, std::size_t size) {
    static World world;
    if (size == 0) return 0;
    const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
    read_with_c(input);
    const auto session = std::make_shared<SilentSession>(++world.last_session);
    // Half of them without a hello of their own and headers: the rest is one JSON message.
    bool greeted = (data[0] & 1) != 0;
    const std::string stream =
        greeted && (data[0] & 2) != 0 ? pack(MessageKind::json, 0, input) : std::string(input);
    const std::size_t tear = std::min<std::size_t>(data[0], stream.size());
    MessageReader reader(1U << 20);
    try {
        reader.feed(std::string_view(stream).substr(0, tear));
        converse(world, reader, session, greeted);
        reader.feed(std::string_view(stream).substr(tear));
        converse(world, reader, session, greeted);
    } catch (const Error&) {
        // such a connection is closed
    }
    if (greeted) world.protocol.ended(session);
    return 0;
}

}  // namespace svc::fuzz::guest_protocol_target
