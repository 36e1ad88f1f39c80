#include "tests/streamer/clipboard/selection_program.h"

#include <X11/Xatom.h>
#include <poll.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

namespace svc::test {

namespace {

constexpr int patience_ms = 60'000, look_ms = 20;
constexpr std::size_t piece = 64U << 10;

}  // namespace

SelectionProgram::SelectionProgram(const std::string& display) : x_(XOpenDisplay(display.c_str())) {
    if (x_ == nullptr) throw std::runtime_error("no display");
    window_ = XCreateSimpleWindow(x_, DefaultRootWindow(x_), 0, 0, 1, 1, 0, 0, 0);
    XSelectInput(x_, window_, PropertyChangeMask);
}

SelectionProgram::~SelectionProgram() {
    XCloseDisplay(x_);
}

bool SelectionProgram::next(XEvent& event, int milliseconds) {
    if (XPending(x_) == 0) {
        pollfd wait{ConnectionNumber(x_), POLLIN, 0};
        if (poll(&wait, 1, milliseconds) <= 0 || XPending(x_) == 0) return false;
    }
    XNextEvent(x_, &event);
    return true;
}

void SelectionProgram::copy(const std::string& target, std::string data, Way way) {
    target_ = target;
    data_ = std::move(data);
    way_ = way;
    XSetSelectionOwner(x_, atom("CLIPBOARD"), window_, CurrentTime);
    XSync(x_, False);
}

bool SelectionProgram::owns() const {
    return XGetSelectionOwner(x_, atom("CLIPBOARD")) == window_;
}

bool SelectionProgram::serve_until(const std::function<bool()>& done) {
    const auto latest = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
    while (!done()) {
        if (std::chrono::steady_clock::now() > latest) return false;
        XEvent event{};
        if (!next(event, look_ms)) continue;
        if (event.type == SelectionRequest) answer(event.xselectionrequest);
        if (event.type == PropertyNotify && event.xproperty.state == PropertyDelete &&
            event.xproperty.window == taker_ && event.xproperty.atom == taker_property_)
            give_piece();
    }
    return true;
}

void SelectionProgram::answer(const XSelectionRequestEvent& request) {
    ++asked_;
    if (way_ == Way::silent) return;
    XEvent reply{};
    reply.xselection = {
        SelectionNotify,  0,           False, x_, request.requestor, request.selection, request.target,
        request.property, request.time};
    const auto change = [&](Atom type, int format, const void* data, std::size_t count) {
        XChangeProperty(x_, request.requestor, request.property, type, format, PropModeReplace,
                        static_cast<const unsigned char*>(data), static_cast<int>(count));
    };
    if (request.target == atom("TARGETS")) {
        const std::vector<Atom> all{atom("TARGETS"), atom(target_)};
        change(XA_ATOM, 32, all.data(), all.size());
    } else if (request.target != atom(target_)) {
        reply.xselection.property = None;
    } else if (way_ == Way::whole) {
        change(request.target, 8, data_.data(), data_.size());
    } else {
        taker_ = request.requestor;
        taker_property_ = request.property;
        given_ = 0;
        XSelectInput(x_, taker_, PropertyChangeMask);
        const long size = static_cast<long>(data_.size());
        change(atom("INCR"), 32, &size, 1);
    }
    XSendEvent(x_, request.requestor, False, NoEventMask, &reply);
    XFlush(x_);
}

void SelectionProgram::give_piece() {
    if (way_ == Way::endless && given_ == data_.size()) given_ = 0;
    const std::size_t size = std::min(piece, data_.size() - given_);
    XChangeProperty(x_, taker_, taker_property_, atom(target_), 8, PropModeReplace,
                    reinterpret_cast<const unsigned char*>(data_.data()) + given_, static_cast<int>(size));
    given_ += size;
    XFlush(x_);
}

std::string SelectionProgram::take_property(Atom& type) {
    int format = 0;
    unsigned long count = 0, left = 0;
    unsigned char* data = nullptr;
    XGetWindowProperty(x_, window_, atom("PASTE"), 0, 1 << 24, True, AnyPropertyType, &type, &format, &count,
                       &left, &data);
    const std::size_t unit = format == 32 ? sizeof(long) : static_cast<std::size_t>(format) / 8;
    std::string bytes(reinterpret_cast<const char*>(data), data != nullptr ? count * unit : 0);
    if (data != nullptr) XFree(data);
    return bytes;
}

std::optional<std::string> SelectionProgram::take_pieces() {
    std::string all;
    for (XEvent event{}; next(event, patience_ms);) {
        if (event.type != PropertyNotify || event.xproperty.atom != atom("PASTE") ||
            event.xproperty.state != PropertyNewValue)
            continue;
        Atom type = None;
        const std::string bytes = take_property(type);
        if (type != None && bytes.empty()) return all;
        all += bytes;
    }
    return std::nullopt;
}

std::optional<std::string> SelectionProgram::convert(Atom target) {
    XConvertSelection(x_, atom("CLIPBOARD"), target, atom("PASTE"), window_, CurrentTime);
    for (XEvent event{}; next(event, patience_ms);) {
        if (event.type != SelectionNotify) continue;
        if (event.xselection.property == None) return std::nullopt;
        Atom type = None;
        std::string bytes = take_property(type);
        return type == atom("INCR") ? take_pieces() : bytes;
    }
    throw std::runtime_error("the owner of the selection does not answer");
}

std::optional<std::string> SelectionProgram::paste(const std::string& target) {
    return convert(atom(target));
}

std::vector<std::string> SelectionProgram::targets() {
    const std::string bytes = convert(atom("TARGETS")).value_or("");
    std::vector<Atom> atoms(bytes.size() / sizeof(Atom));
    std::memcpy(atoms.data(), bytes.data(), bytes.size());
    std::vector<std::string> names;
    for (const Atom one : atoms) {
        char* const name = XGetAtomName(x_, one);
        names.emplace_back(name);
        XFree(name);
    }
    return names;
}

}  // namespace svc::test
