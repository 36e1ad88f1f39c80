#include "tests/streamer/display/x_server.h"

#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "libsvc/base/file.h"
#include "libsvc/base/strings.h"

namespace svc::test {

namespace {

constexpr int patience_ms = 60'000;

// The server chooses a free number and writes it when it is ready. "": it ended instead.
std::string read_number(int fd) {
    std::string text;
    for (char c = 0; text.find('\n') == text.npos;) {
        pollfd wait{fd, POLLIN, 0};
        if (poll(&wait, 1, patience_ms) <= 0 || read(fd, &c, 1) != 1) return "";
        text += c;
    }
    return std::string(trim(text));
}

}  // namespace

// A server that ends frees its number in two steps, between which another one takes it in vain: so there is a
// second try.
XServer::XServer(int width, int height) {
    const std::string screen = std::to_string(width) + "x" + std::to_string(height) + "x24";
    for (int tries = 3; display_.empty() && tries > 0; --tries) start(screen);
    if (display_.empty()) throw std::runtime_error("Xvfb does not start");
}

void XServer::start(const std::string& screen) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    pid_ = fork();
    if (pid_ == 0) {
        dup2(ends[1], 3);
        const int null = open("/dev/null", O_RDWR);
        dup2(null, 2);
        // -r: a key that is held while the machine is busy is not pressed again and again.
        execlp("Xvfb", "Xvfb", "-r", "-displayfd", "3", "-screen", "0", screen.c_str(), "-nolisten", "tcp",
               nullptr);
        _exit(127);
    }
    const FileDescriptor read_end(ends[0]);
    close(ends[1]);
    if (const std::string number = read_number(read_end.get()); !number.empty())
        display_ = ":" + number;
    else
        end();
}

void XServer::end() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
}

XServer::~XServer() {
    end();
}

XListener::XListener(const std::string& display) : display_(XOpenDisplay(display.c_str())) {
    if (display_ == nullptr) throw std::runtime_error("no display");
    XSetWindowAttributes attributes{};
    attributes.override_redirect = True;
    const Window window =
        XCreateWindow(display_, DefaultRootWindow(display_), 0, 0, 1600, 1200, 0, CopyFromParent, InputOutput,
                      CopyFromParent, CWOverrideRedirect, &attributes);
    XSelectInput(display_, window,
                 KeyPressMask | KeyReleaseMask | ButtonPressMask | ButtonReleaseMask | PointerMotionMask |
                     StructureNotifyMask);
    XMapRaised(display_, window);
    XEvent event{};
    do XNextEvent(display_, &event);
    while (event.type != MapNotify);
    XSetInputFocus(display_, window, RevertToNone, CurrentTime);
    XSync(display_, False);
}

XListener::~XListener() {
    XCloseDisplay(display_);
}

void XListener::next(XEvent& event) const {
    while (XPending(display_) == 0) {
        pollfd wait{ConnectionNumber(display_), POLLIN, 0};
        if (poll(&wait, 1, patience_ms) <= 0) throw std::runtime_error("nothing reaches the window");
    }
    XNextEvent(display_, &event);
}

std::string XListener::note_of(XEvent& event) {
    const auto at = [](int x, int y) { return std::to_string(x) + "," + std::to_string(y); };
    switch (event.type) {
        case MappingNotify:
            XRefreshKeyboardMapping(&event.xmapping);
            return "";
        case KeyPress: {
            char text[16] = "";
            const int size = XLookupString(&event.xkey, text, sizeof(text), nullptr, nullptr);
            return "press " + std::to_string(event.xkey.keycode) + " " +
                   std::string(text, static_cast<std::size_t>(size));
        }
        case KeyRelease:
            return "release " + std::to_string(event.xkey.keycode);
        case ButtonPress:
            return "button " + std::to_string(event.xbutton.button) + " at " +
                   at(event.xbutton.x_root, event.xbutton.y_root);
        case ButtonRelease:
            return "let " + std::to_string(event.xbutton.button);
        case MotionNotify:
            return "move " + at(event.xmotion.x_root, event.xmotion.y_root);
        default:
            return "";
    }
}

std::vector<std::string> XListener::notes(std::size_t count) {
    std::vector<std::string> notes;
    while (notes.size() < count) {
        XEvent event{};
        next(event);
        if (const std::string note = note_of(event); !note.empty()) notes.push_back(note);
    }
    return notes;
}

// As programs without an input method read it: by the keymap of the moment.
std::string XListener::typed(std::size_t count) {
    std::string text;
    while (count > 0) {
        XEvent event{};
        next(event);
        if (event.type == MappingNotify) XRefreshKeyboardMapping(&event.xmapping);
        if (event.type != KeyPress) continue;
        KeySym symbol = NoSymbol;
        char latin[16] = "";
        const int size = XLookupString(&event.xkey, latin, sizeof(latin), &symbol, nullptr);
        if (IsModifierKey(symbol)) continue;
        if (symbol >= 0x01000000) {
            text += "U+" + std::to_string(symbol - 0x01000000);
        } else {
            text.append(latin, static_cast<std::size_t>(size));
        }
        --count;
    }
    return text;
}

std::pair<int, int> XListener::screen_size() const {
    XWindowAttributes attributes{};
    XGetWindowAttributes(display_, DefaultRootWindow(display_), &attributes);
    return {attributes.width, attributes.height};
}

std::string XListener::resource(const std::string& name) const {
    Atom type = None;
    int format = 0;
    unsigned long count = 0, rest = 0;
    unsigned char* data = nullptr;
    XGetWindowProperty(display_, DefaultRootWindow(display_), XA_RESOURCE_MANAGER, 0, 65536, False, XA_STRING,
                       &type, &format, &count, &rest, &data);
    const std::string text = data == nullptr ? "" : std::string(reinterpret_cast<char*>(data), count);
    if (data != nullptr) XFree(data);
    for (const std::string& line : split(text, '\n'))
        if (line.starts_with(name + ":")) return std::string(trim(line.substr(name.size() + 1)));
    return "";
}

}  // namespace svc::test
