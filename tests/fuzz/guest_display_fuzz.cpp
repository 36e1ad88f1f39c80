// What a program that draws the display sends, packet by packet. The byte of a packet says which descriptors
// come with it, and whether the oldest frame is let go of first. Whatever comes, each frame can be read from
// its first byte to its last one, and a program at fault gets an Error.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "instance-agent/libsvcguest/display_wire.h"
#include "instance-agent/streamer/guest_display/display_session.h"
#include "tests/fuzz/checked_sink.h"
#include "tests/fuzz/packets.h"
#include "tests/fuzz/refusals.h"
#include "tests/fuzz/target.h"

namespace svc::fuzz::guest_display_target {

namespace {

using namespace svc::streamer;

constexpr off_t memory_size = 1 << 16;

FileDescriptor memory(off_t size, int seals) {
    FileDescriptor made(memfd_create("buffer", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    require(made && ftruncate(made.get(), size) == 0 && fcntl(made.get(), F_ADD_SEALS, seals) == 0);
    return made;
}

std::vector<FileDescriptor> descriptors(unsigned kind) {
    std::vector<FileDescriptor> made;
    if (kind == 1 || kind == 2) made.push_back(memory(memory_size, F_SEAL_SHRINK));
    if (kind == 2) made.push_back(memory(memory_size, F_SEAL_SHRINK));
    if (kind == 3) made.push_back(memory(memory_size, F_SEAL_GROW));
    if (kind == 4) made.push_back(memory(8, F_SEAL_SHRINK));
    if (kind == 5) made.push_back(open_file("/dev/zero", O_RDWR));
    if (kind == 6) made.emplace_back();
    return made;
}

class Program {
  public:
    void take(std::uint8_t mark, const std::string& packet) {
        if ((mark & 0x80) != 0 && !frames_.empty()) frames_.pop_front();
        for (const BufferTurn& turn : std::exchange(returned_, {})) session_->take_back(turn);
        try {
            if (auto frame = session_->take(packet, descriptors(mark & 7))) show(std::move(frame));
        } catch (const Error&) {
            begin();
        }
    }

  private:
    void show(std::shared_ptr<const RawFrame> frame) {
        const std::size_t size = std::size_t{frame->stride} * frame->height;
        require(frame->width * 4 <= frame->stride && size <= memory_size);
        require(frame->pixels[0] == 0 && frame->pixels[size - 1] == 0);
        frames_.push_back(std::move(frame));
    }
    // The frames of the program before are still shown.
    void begin() {
        returned_.clear();
        session_.emplace([this](BufferTurn turn) { returned_.push_back(turn); });
        const wire_hello hello{WIRE_HELLO, WIRE_VERSION};
        session_->take({reinterpret_cast<const char*>(&hello), sizeof(hello)}, {});
    }

    std::vector<BufferTurn> returned_;
    std::optional<DisplaySession> session_{[this](BufferTurn turn) { returned_.push_back(turn); }};
    std::deque<std::shared_ptr<const RawFrame>> frames_;
};

}  // namespace

FUZZ_TARGET(guest_display)(const std::uint8_t* data, std::size_t size) {
    Program program;
    for_each_packet(data, size,
                    [&](std::uint8_t mark, const std::string& packet) { program.take(mark, packet); });
    return 0;
}

}  // namespace svc::fuzz::guest_display_target
