// Sets size and density of an X server's screen.
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/extensions/Xrandr.h>

#include <algorithm>

#include "instance-agent/streamer/display/screen.h"
#include "libsvc/base/error.h"
#include "libsvc/base/log.h"
#include "libsvc/base/strings.h"

namespace svc::streamer {

namespace {

constexpr int dots_per_inch = 96;  // what X programs take for unscaled
constexpr int unscaled_density = 160;
constexpr double millimetres_per_inch = 25.4;

struct FreeResources {
    void operator()(XRRScreenResources* resources) const { XRRFreeScreenResources(resources); }
};
using Resources = std::unique_ptr<XRRScreenResources, FreeResources>;

struct FreeOutput {
    void operator()(XRROutputInfo* output) const { XRRFreeOutputInfo(output); }
};
using OutputInfo = std::unique_ptr<XRROutputInfo, FreeOutput>;

// At least 1: the server refuses a size of 0 mm.
int millimetres(int pixels) {
    return std::max(1, static_cast<int>(pixels * millimetres_per_inch / dots_per_inch));
}

// The present resources with another Xft.dpi.
std::string with_dpi(const std::string& resources, int dpi) {
    std::string text;
    for (const std::string& line : split(resources, '\n'))
        if (!line.empty() && !line.starts_with("Xft.dpi:")) text += line + "\n";
    return text + "Xft.dpi:\t" + std::to_string(dpi) + "\n";
}

class XScreen final : public Screen {
  public:
    explicit XScreen(const std::string& display) : connection_(display) {
        int ignored = 0;
        has_randr_ = XRRQueryExtension(x(), &ignored, &ignored) != 0;
        if (!has_randr_) log::warning("X server has no RandR: the screen keeps its size");
    }

    ScreenSize resize(ScreenSize wish) override {
        if (has_randr_ && wish != size()) change_to(fitting(wish));
        return size();
    }

    void set_density(int density) override {
        const int dpi = density * dots_per_inch / unscaled_density;
        const std::string text = with_dpi(resource_text(), dpi);
        XChangeProperty(x(), root(), XA_RESOURCE_MANAGER, XA_STRING, 8, PropModeReplace,
                        reinterpret_cast<const unsigned char*>(text.data()), static_cast<int>(text.size()));
        XSync(x(), False);
    }

  private:
    Display* x() const { return connection_.get(); }
    Window root() const { return DefaultRootWindow(x()); }

    // Reads the property from the server: Xlib caches the value of the time it connected.
    ScreenSize size() const {
        XWindowAttributes attributes{};
        XGetWindowAttributes(x(), root(), &attributes);
        return {attributes.width, attributes.height};
    }

    ScreenSize fitting(ScreenSize wish) const {
        int least_width = 0, least_height = 0, most_width = 0, most_height = 0;
        if (XRRGetScreenSizeRange(x(), root(), &least_width, &least_height, &most_width, &most_height) == 0)
            return wish;
        const auto even = [](int pixels) { return pixels - pixels % 2; };
        return {std::clamp(wish.width, least_width, even(most_width)),
                std::clamp(wish.height, least_height, even(most_height))};
    }

    // RandR demands that no output shows the screen while its size changes.
    void change_to(ScreenSize size) {
        Resources resources(XRRGetScreenResources(x(), root()));
        const RROutput output = resources ? connected_output(*resources) : None;
        if (output == None || resources->ncrtc == 0)
            return log::warning("X server has no output: the screen keeps its size");
        const RRMode mode = mode_for(*resources, output, size);
        const RRCrtc crtc = crtc_of(*resources, output);
        XGrabServer(x());
        XRRSetCrtcConfig(x(), resources.get(), crtc, CurrentTime, 0, 0, None, RR_Rotate_0, nullptr, 0);
        XRRSetScreenSize(x(), root(), size.width, size.height, millimetres(size.width),
                         millimetres(size.height));
        RROutput shown = output;
        resources.reset(XRRGetScreenResources(x(), root()));
        XRRSetCrtcConfig(x(), resources.get(), crtc, CurrentTime, 0, 0, mode, RR_Rotate_0, &shown, 1);
        XUngrabServer(x());
        XSync(x(), False);
    }

    RROutput connected_output(const XRRScreenResources& resources) const {
        for (int i = 0; i < resources.noutput; ++i) {
            const OutputInfo info(
                XRRGetOutputInfo(x(), const_cast<XRRScreenResources*>(&resources), resources.outputs[i]));
            if (info && info->connection == RR_Connected) return resources.outputs[i];
        }
        return None;
    }

    RRCrtc crtc_of(const XRRScreenResources& resources, RROutput output) const {
        const OutputInfo info(XRRGetOutputInfo(x(), const_cast<XRRScreenResources*>(&resources), output));
        return info && info->crtc != None ? info->crtc : resources.crtcs[0];
    }

    RRMode mode_for(const XRRScreenResources& resources, RROutput output, ScreenSize size) {
        for (int i = 0; i < resources.nmode; ++i) {
            const XRRModeInfo& mode = resources.modes[i];
            if (mode.width != static_cast<unsigned>(size.width) ||
                mode.height != static_cast<unsigned>(size.height))
                continue;
            XRRAddOutputMode(x(), output, mode.id);
            return mode.id;
        }
        const RRMode mode = make_mode(size);
        XRRAddOutputMode(x(), output, mode);
        return mode;
    }

    // These servers drive no monitor, so any timing works.
    RRMode make_mode(ScreenSize size) {
        std::string name = std::to_string(size.width) + "x" + std::to_string(size.height);
        XRRModeInfo mode{};
        mode.width = mode.hTotal = static_cast<unsigned>(size.width);
        mode.height = mode.vTotal = static_cast<unsigned>(size.height);
        mode.dotClock = static_cast<unsigned long>(size.width) * static_cast<unsigned long>(size.height) * 60;
        mode.name = name.data();
        mode.nameLength = static_cast<unsigned>(name.size());
        return XRRCreateMode(x(), root(), &mode);
    }

    std::string resource_text() const {
        Atom type = None;
        int format = 0;
        unsigned long count = 0, rest = 0;
        unsigned char* data = nullptr;
        XGetWindowProperty(x(), root(), XA_RESOURCE_MANAGER, 0, 1 << 18, False, XA_STRING, &type, &format,
                           &count, &rest, &data);
        std::string text = data != nullptr ? std::string(reinterpret_cast<const char*>(data), count) : "";
        if (data != nullptr) XFree(data);
        return text;
    }

    XConnection connection_;
    bool has_randr_ = false;
};

}  // namespace

std::unique_ptr<Screen> make_x_screen(const std::string& display) {
    return std::make_unique<XScreen>(display);
}

}  // namespace svc::streamer
