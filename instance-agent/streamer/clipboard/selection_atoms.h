#pragma once
// The names of ICCCM and of freedesktop.org that the selection CLIPBOARD is spoken about with.
#include <X11/Xlib.h>

#include "instance-agent/streamer/clipboard/clipboard.h"

namespace svc::streamer {

struct SelectionAtoms {
    explicit SelectionAtoms(Display* x)
        : clipboard(XInternAtom(x, "CLIPBOARD", False)),
          targets(XInternAtom(x, "TARGETS", False)),
          incremental(XInternAtom(x, "INCR", False)),
          utf8(XInternAtom(x, "UTF8_STRING", False)),
          plain_utf8(XInternAtom(x, "text/plain;charset=utf-8", False)),
          plain(XInternAtom(x, "text/plain", False)),
          png(XInternAtom(x, "image/png", False)),
          property(XInternAtom(x, "SVC_CLIPBOARD", False)) {}

    Atom clipboard, targets, incremental, utf8, plain_utf8, plain, png;
    Atom property;  // of our own window: where owners of the selection put it
};

}  // namespace svc::streamer
