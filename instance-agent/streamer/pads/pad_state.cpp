#include "instance-agent/streamer/pads/pad_state.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <utility>

#include "instance-agent/streamer/pads/pad_name.h"

namespace svc::streamer {
namespace {

constexpr unsigned bits_of_byte = 8;

bool has_bit(const std::uint8_t* bits, unsigned bit) {
    return (bits[bit / bits_of_byte] >> bit % bits_of_byte & 1U) != 0;
}

void set_bit(std::uint8_t* bits, unsigned bit, bool value) {
    const auto mask = static_cast<std::uint8_t>(1U << bit % bits_of_byte);
    std::uint8_t& byte = bits[bit / bits_of_byte];
    byte = static_cast<std::uint8_t>(value ? byte | mask : byte & ~mask);
}

pad_description describe(const DeviceAbilities& abilities) {
    pad_description pad{};
    pad.version = PAD_VERSION;
    pad.id = {BUS_VIRTUAL, virtual_vendor, virtual_product, 1};
    abilities.name.copy(pad.name, sizeof(pad.name) - 1);
    for (const int key : abilities.keys) set_bit(pad.keys, static_cast<unsigned>(key), true);
    for (const AxisRange& range : abilities.absolute) {
        set_bit(pad.axes, static_cast<unsigned>(range.axis), true);
        pad.absolute[range.axis].minimum = range.least;
        pad.absolute[range.axis].maximum = range.most;
    }
    return pad;
}

}  // namespace

PadState::PadState(const DeviceAbilities& abilities, const std::filesystem::path& file)
    : description_(describe(abilities)), file_(open_file(file, O_WRONLY | O_CREAT | O_EXCL)) {
    open_to_guest(file, 0640);
    store();
}

bool PadState::apply(const input_event& event) {
    const unsigned code = event.code;
    if (event.type == EV_KEY && code < KEY_CNT && has_bit(description_.keys, code)) {
        const bool was_down = has_bit(description_.down, code), down = event.value != 0;
        set_bit(description_.down, code, down);
        return was_down != down;
    }
    if (event.type != EV_ABS || code >= ABS_CNT || !has_bit(description_.axes, code)) return false;
    return std::exchange(description_.absolute[code].value, event.value) != event.value;
}

// A device without room for two kilobytes has lost more than that.
void PadState::store() const {
    [[maybe_unused]] const ssize_t stored = pwrite(file_.get(), &description_, sizeof(description_), 0);
}

}  // namespace svc::streamer
