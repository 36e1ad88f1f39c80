#include "instance-agent/streamer/clipboard/selection_owner.h"

#include <X11/Xatom.h>

#include <algorithm>
#include <utility>

namespace svc::streamer {

namespace {

const unsigned char* bytes_of(const void* data) {
    return static_cast<const unsigned char*>(data);
}

}  // namespace

bool SelectionOwner::own(ClipboardContent content) {
    content_ = std::move(content);
    XSetSelectionOwner(x_, atoms_.clipboard, window_, CurrentTime);
    return XGetSelectionOwner(x_, atoms_.clipboard) == window_;
}

// Anybody can send this event.
void SelectionOwner::lost(const XSelectionClearEvent& event) {
    if (event.selection != atoms_.clipboard || XGetSelectionOwner(x_, atoms_.clipboard) == window_) return;
    content_.reset();
}

// Programs of before ICCCM name no property. Anybody can send this event, also for our own window.
void SelectionOwner::asked(const XSelectionRequestEvent& event) {
    if (event.requestor == window_) return;
    const Atom property = event.property != None ? event.property : event.target;
    XEvent reply{};
    reply.xselection = {SelectionNotify, 0,    False,     x_, event.requestor, event.selection,
                        event.target,    None, event.time};
    if (answer(event, property)) reply.xselection.property = property;
    XSendEvent(x_, event.requestor, False, NoEventMask, &reply);
}

bool SelectionOwner::answer(const XSelectionRequestEvent& event, Atom property) {
    if (!content_ || event.selection != atoms_.clipboard) return false;
    if (event.target == atoms_.targets) {
        const std::vector<Atom> all = targets();
        XChangeProperty(x_, event.requestor, property, XA_ATOM, 32, PropModeReplace, bytes_of(all.data()),
                        static_cast<int>(all.size()));
        return true;
    }
    if (!offers(event.target)) return false;
    const std::string& data = *content_->data;
    if (data.size() > piece)
        return begin_pieces({event.requestor, property, event.target, content_->data, 0, {}});
    XChangeProperty(x_, event.requestor, property, event.target, 8, PropModeReplace, bytes_of(data.data()),
                    static_cast<int>(data.size()));
    return true;
}

bool SelectionOwner::offers(Atom target) const {
    const std::vector<Atom> all = targets();
    return target != atoms_.targets && std::find(all.begin(), all.end(), target) != all.end();
}

std::vector<Atom> SelectionOwner::targets() const {
    if (content_->format == ClipboardFormat::png) return {atoms_.targets, atoms_.png};
    return {atoms_.targets, atoms_.utf8, atoms_.plain_utf8, atoms_.plain};
}

// The program deletes the property to get the next piece, so its window has to tell of that.
bool SelectionOwner::begin_pieces(const Taker& taker) {
    drop(
        [&](const Taker& other) { return other.window == taker.window && other.property == taker.property; });
    if (takers_.size() == max_takers) return false;
    XSelectInput(x_, taker.window, PropertyChangeMask | StructureNotifyMask);
    const long size = static_cast<long>(taker.data->size());
    XChangeProperty(x_, taker.window, taker.property, atoms_.incremental, 32, PropModeReplace,
                    bytes_of(&size), 1);
    takers_.push_back(taker);
    takers_.back().deadline = std::chrono::steady_clock::now() + patience;
    return true;
}

void SelectionOwner::property_changed(const XPropertyEvent& event) {
    if (event.state != PropertyDelete) return;
    const auto taker = std::find_if(takers_.begin(), takers_.end(), [&](const Taker& one) {
        return one.window == event.window && one.property == event.atom;
    });
    if (taker == takers_.end() || give_piece(*taker)) return;
    drop([&](const Taker& one) { return one.window == event.window && one.property == event.atom; });
}

// An empty piece is the end. False: that was it.
bool SelectionOwner::give_piece(Taker& taker) {
    const std::size_t size = std::min(piece, taker.data->size() - taker.taken);
    XChangeProperty(x_, taker.window, taker.property, taker.type, 8, PropModeReplace,
                    bytes_of(taker.data->data() + taker.taken), static_cast<int>(size));
    taker.taken += size;
    taker.deadline = std::chrono::steady_clock::now() + patience;
    return size > 0;
}

void SelectionOwner::window_gone(Window window) {
    std::erase_if(takers_, [&](const Taker& one) { return one.window == window; });
}

void SelectionOwner::tick(Moment now) {
    drop([&](const Taker& one) { return now > one.deadline; });
}

// A window that takes nothing any more need not tell of its properties.
template <class Condition>
void SelectionOwner::drop(Condition condition) {
    std::vector<Window> windows;
    std::erase_if(takers_, [&](const Taker& one) {
        if (!condition(one)) return false;
        windows.push_back(one.window);
        return true;
    });
    for (const Window window : windows)
        if (std::none_of(takers_.begin(), takers_.end(),
                         [&](const Taker& one) { return one.window == window; }))
            XSelectInput(x_, window, NoEventMask);
}

}  // namespace svc::streamer
