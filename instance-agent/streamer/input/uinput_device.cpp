#include <fcntl.h>
#include <linux/uinput.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "instance-agent/streamer/input/virtual_device.h"
#include "libsvc/base/error.h"
#include "libsvc/base/file.h"

namespace svc::streamer {

namespace {

class UinputDevice final : public VirtualDevice {
  public:
    explicit UinputDevice(const DeviceAbilities& abilities)
        : fd_(open("/dev/uinput", O_WRONLY | O_NONBLOCK | O_CLOEXEC)) {
        if (fd_.get() < 0) throw Error(ErrorCode::unsupported, "this machine has no /dev/uinput");
        announce(abilities);
        uinput_setup setup{};
        setup.id = {BUS_VIRTUAL, virtual_vendor, virtual_product, 1};
        abilities.name.copy(setup.name, sizeof(setup.name) - 1);
        set(UI_DEV_SETUP, &setup);
        set(UI_DEV_CREATE, 0);
    }
    ~UinputDevice() override { ioctl(fd_.get(), UI_DEV_DESTROY); }
    UinputDevice(const UinputDevice&) = delete;
    UinputDevice& operator=(const UinputDevice&) = delete;

    // The kernel's queue is full when no program reads: further events are lost.
    void emit(int type, int code, int value) override {
        input_event event{};
        event.type = static_cast<std::uint16_t>(type);
        event.code = static_cast<std::uint16_t>(code);
        event.value = value;
        [[maybe_unused]] const ssize_t written = write(fd_.get(), &event, sizeof(event));
    }

  private:
    template <class Argument>
    void set(unsigned long request, Argument argument) {
        if (ioctl(fd_.get(), request, argument) < 0)
            throw system_error("cannot set up an input device", errno);
    }
    void announce(const DeviceAbilities& abilities) {
        if (!abilities.keys.empty()) set(UI_SET_EVBIT, EV_KEY);
        for (const int key : abilities.keys) set(UI_SET_KEYBIT, key);
        if (!abilities.relative.empty()) set(UI_SET_EVBIT, EV_REL);
        for (const int axis : abilities.relative) set(UI_SET_RELBIT, axis);
        if (!abilities.absolute.empty()) set(UI_SET_EVBIT, EV_ABS);
        for (const AxisRange& range : abilities.absolute) {
            uinput_abs_setup axis{};
            axis.code = static_cast<std::uint16_t>(range.axis);
            axis.absinfo.minimum = range.least;
            axis.absinfo.maximum = range.most;
            set(UI_ABS_SETUP, &axis);
        }
        if (abilities.is_touch_panel) set(UI_SET_PROPBIT, INPUT_PROP_DIRECT);
    }

    FileDescriptor fd_;
};

}  // namespace

void VirtualDevice::report() {
    emit(EV_SYN, SYN_REPORT, 0);
}

std::unique_ptr<VirtualDevice> make_uinput_device(const DeviceAbilities& abilities) {
    return std::make_unique<UinputDevice>(abilities);
}

}  // namespace svc::streamer
