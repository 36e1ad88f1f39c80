/* svc-stream-demo: a window over the whole screen that shows what reaches it, for people and for programs
 * that look at its picture.
 *
 *   svc-stream-demo [--display NAME] [--flip-every MS]
 *
 * Four quarters, red, green, blue and yellow; a square in the middle that is cyan or magenta and flips on F9,
 * on SIGUSR1 and every MS milliseconds; what was typed, in large letters; a dot where it was clicked. Below
 * are rows of black and white cells: white, black, then 24 bits, the highest first:
 *
 *   1  time of the last flip, milliseconds of the system's clock
 *   2  number of characters typed (8 bits), code of the last one (16)
 *   3  x (12) and y (12) of the last click
 *   4  keys and buttons that are down (8), steps of the wheel, up counts (8), flips (8) */
#include <X11/XKBlib.h>
#include <X11/Xatom.h>
#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/keysym.h>
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { row_count = 4, cell_count = 26, text_limit = 40, rows_part = 8 };
enum {
    red = 0xe02020,
    green = 0x20c040,
    blue = 0x2040e0,
    yellow = 0xf0d020,
    cyan = 0x00e0e0,
    magenta = 0xe000e0
};

static Display* display;
static Window root, window;
static GC gc;
static Pixmap canvas;  // what is drawn, so that nobody sees it half done
static int width, height;
static XFontStruct* font;
static bool held[256];  // keycodes
static bool mapped;     // it is seen from then on, and has the keys

static struct {
    bool flipped;
    uint64_t flip_time;
    unsigned flips, typed, last_character, down, wheel;
    int click_x, click_y;
    XChar2b text[text_limit];
    int length;
} state = {.click_x = -1, .click_y = -1};

static uint64_t now_ms(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

static void fill(unsigned long colour, int x, int y, int w, int h) {
    XSetForeground(display, gc, colour);
    XFillRectangle(display, canvas, gc, x, y, (unsigned)w, (unsigned)h);
}

static void draw_quarters(int bottom) {
    int middle = width / 2, centre = bottom / 2;
    fill(red, 0, 0, middle, centre);
    fill(green, middle, 0, width - middle, centre);
    fill(blue, 0, centre, middle, bottom - centre);
    fill(yellow, middle, centre, width - middle, bottom - centre);
    int side = (width < bottom ? width : bottom) / 4;
    fill(state.flipped ? magenta : cyan, middle - side / 2, centre - side / 2, side, side);
}

static void draw_row(int index, unsigned value) {
    int top = height - height / rows_part + index * (height / rows_part) / row_count;
    int bottom = height - height / rows_part + (index + 1) * (height / rows_part) / row_count;
    unsigned bits = 2U << 24 | (value & 0xffffff);
    for (int cell = 0; cell < cell_count; ++cell) {
        int left = cell * width / cell_count, right = (cell + 1) * width / cell_count;
        fill(bits >> (cell_count - 1 - cell) & 1 ? 0xffffff : 0, left, top, right - left, bottom - top);
    }
}

static void draw_rows(void) {
    draw_row(0, (unsigned)state.flip_time);
    draw_row(1, (state.typed & 0xff) << 16 | (state.last_character & 0xffff));
    draw_row(2, ((unsigned)state.click_x & 0xfff) << 12 | ((unsigned)state.click_y & 0xfff));
    draw_row(3, (state.down & 0xff) << 16 | (state.wheel & 0xff) << 8 | (state.flips & 0xff));
}

/* The text in the one small font that every server has, as bits. */
static XImage* small_text(int text_width, int text_height) {
    Pixmap bits = XCreatePixmap(display, window, (unsigned)text_width, (unsigned)text_height, 1);
    GC bit_gc = XCreateGC(display, bits, 0, NULL);
    XSetForeground(display, bit_gc, 0);
    XFillRectangle(display, bits, bit_gc, 0, 0, (unsigned)text_width, (unsigned)text_height);
    XSetForeground(display, bit_gc, 1);
    XSetFont(display, bit_gc, font->fid);
    XDrawString16(display, bits, bit_gc, 0, font->ascent, state.text, state.length);
    XImage* image = XGetImage(display, bits, 0, 0, (unsigned)text_width, (unsigned)text_height, 1, XYPixmap);
    XFreeGC(display, bit_gc);
    XFreePixmap(display, bits);
    return image;
}

static int text_scale(int text_width, int text_height, int bottom) {
    int scale = width * 9 / 10 / (text_width > 60 ? text_width : 60);
    if (scale * text_height > bottom / 4) scale = bottom / 4 / text_height;
    return scale < 1 ? 1 : scale;
}

static void draw_text(int bottom) {
    if (state.length == 0 || !font) return;
    int text_width = XTextWidth16(font, state.text, state.length), text_height = font->ascent + font->descent;
    XImage* image = small_text(text_width, text_height);
    if (!image) return;
    int scale = text_scale(text_width, text_height, bottom);
    int left = (width - text_width * scale) / 2, top = bottom / 12;
    for (int y = 0; y < text_height; ++y)
        for (int x = 0; x < text_width; ++x)
            if (XGetPixel(image, x, y)) fill(0xffffff, left + x * scale, top + y * scale, scale, scale);
    XDestroyImage(image);
}

static void draw_click(void) {
    if (state.click_x < 0) return;
    int radius = (width < height ? width : height) / 40 + 2;
    XSetForeground(display, gc, 0);
    XFillArc(display, canvas, gc, state.click_x - radius, state.click_y - radius, 2U * (unsigned)radius,
             2U * (unsigned)radius, 0, 360 * 64);
    XSetForeground(display, gc, 0xffffff);
    XDrawArc(display, canvas, gc, state.click_x - radius, state.click_y - radius, 2U * (unsigned)radius,
             2U * (unsigned)radius, 0, 360 * 64);
}

static void draw(void) {
    int bottom = height - height / rows_part;
    draw_quarters(bottom);
    draw_text(bottom);
    draw_click();
    draw_rows();
    XCopyArea(display, canvas, window, gc, 0, 0, (unsigned)width, (unsigned)height, 0, 0);
    XFlush(display);
}

static void flip(void) {
    state.flipped = !state.flipped;
    ++state.flips;
    state.flip_time = now_ms(CLOCK_REALTIME);
}

static void resize(int new_width, int new_height) {
    if (new_width == width && new_height == height) return;
    width = new_width;
    height = new_height;
    if (canvas) XFreePixmap(display, canvas);
    canvas = XCreatePixmap(display, window, (unsigned)width, (unsigned)height,
                           (unsigned)DefaultDepth(display, DefaultScreen(display)));
}

static unsigned character_of(KeySym key) {
    if ((key >= 0x20 && key <= 0x7e) || (key >= 0xa0 && key <= 0xff)) return (unsigned)key;
    return (key & 0xff000000) == 0x01000000 ? (unsigned)(key & 0xffffff) : 0;
}

static void type(unsigned character) {
    ++state.typed;
    state.last_character = character;
    if (state.length == text_limit) state.length = 0;
    unsigned shown = character > 0xff ? '?' : character;
    state.text[state.length++] = (XChar2b){0, (unsigned char)shown};
}

/* The server repeats a key that is held: it is still one key. */
static void key_pressed(XKeyEvent* event) {
    if (held[event->keycode & 0xff]) return;
    held[event->keycode & 0xff] = true;
    KeySym key = NoSymbol;
    char ignored[8];
    XLookupString(event, ignored, sizeof ignored, &key, NULL);
    ++state.down;
    if (key == XK_F9)
        flip();
    else if (key == XK_Return)
        state.length = 0;
    else if (key == XK_BackSpace && state.length > 0)
        --state.length;
    else if (character_of(key) != 0)
        type(character_of(key));
}

static void button_pressed(const XButtonEvent* event) {
    if (event->button == Button4)
        ++state.wheel;
    else if (event->button == Button5)
        --state.wheel;
    else {
        ++state.down;
        state.click_x = event->x;
        state.click_y = event->y;
    }
}

static void released(void) {
    if (state.down > 0) --state.down;
}

static void key_released(const XKeyEvent* event) {
    held[event->keycode & 0xff] = false;
    released();
}

static void handle(XEvent* event) {
    switch (event->type) {
        case KeyPress:
            key_pressed(&event->xkey);
            break;
        case KeyRelease:
            key_released(&event->xkey);
            break;
        case ButtonPress:
            button_pressed(&event->xbutton);
            break;
        case ButtonRelease:
            if (event->xbutton.button < Button4 || event->xbutton.button > 7) released();
            break;
        case MapNotify:
            mapped = true;
            XSetInputFocus(display, window, RevertToPointerRoot, CurrentTime);
            break;
        case MappingNotify:
            XRefreshKeyboardMapping(&event->xmapping);
            break;
        case ConfigureNotify:
            if (event->xconfigure.window == window)
                resize(event->xconfigure.width, event->xconfigure.height);
            else
                XMoveResizeWindow(display, window, 0, 0, (unsigned)event->xconfigure.width,
                                  (unsigned)event->xconfigure.height);
            break;
        default:
            break;
    }
}

/* A window manager takes the focus away and gives it later: neither is an error. */
static int ignore_error(Display* of, XErrorEvent* error) {
    (void)of;
    (void)error;
    return 0;
}

static bool open_window(const char* name) {
    display = XOpenDisplay(name);
    if (!display) return false;
    XSetErrorHandler(ignore_error);
    XkbSetDetectableAutoRepeat(display, True, NULL);  // or each repeat would be a release and a press
    int screen = DefaultScreen(display);
    root = RootWindow(display, screen);
    XSelectInput(display, root, StructureNotifyMask);
    int full_width = DisplayWidth(display, screen), full_height = DisplayHeight(display, screen);
    window = XCreateSimpleWindow(display, root, 0, 0, (unsigned)full_width, (unsigned)full_height, 0, 0, 0);
    XStoreName(display, window, "svc-stream-demo");
    Atom full_screen = XInternAtom(display, "_NET_WM_STATE_FULLSCREEN", False);
    XChangeProperty(display, window, XInternAtom(display, "_NET_WM_STATE", False), XA_ATOM, 32,
                    PropModeReplace, (const unsigned char*)&full_screen, 1);
    XSelectInput(display, window,
                 ExposureMask | KeyPressMask | KeyReleaseMask | ButtonPressMask | ButtonReleaseMask |
                     StructureNotifyMask);
    gc = XCreateGC(display, window, 0, NULL);
    XSetGraphicsExposures(display, gc, False);  // each copy would be answered by an event, and that by a copy
    font = XLoadQueryFont(display, "fixed");
    resize(full_width, full_height);
    XMapRaised(display, window);
    return true;
}

static void take_events(void) {
    while (XPending(display) > 0) {
        XEvent event;
        XNextEvent(display, &event);
        handle(&event);
    }
}

static int signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void run(uint64_t flip_every) {
    struct pollfd sources[2] = {{.fd = ConnectionNumber(display), .events = POLLIN},
                                {.fd = signals(), .events = POLLIN}};
    uint64_t next_flip = now_ms(CLOCK_MONOTONIC) + flip_every;
    for (;;) {
        take_events();
        if (mapped) draw();
        uint64_t now = now_ms(CLOCK_MONOTONIC);
        int wait = flip_every == 0 ? -1 : next_flip > now ? (int)(next_flip - now) : 0;
        if (XPending(display) == 0 && poll(sources, 2, wait) < 0 && errno != EINTR) return;
        struct signalfd_siginfo info;
        bool asked = read(sources[1].fd, &info, sizeof info) == sizeof info;
        bool due = flip_every != 0 && now_ms(CLOCK_MONOTONIC) >= next_flip;
        if (asked || due) flip();
        if (due) next_flip += flip_every;
    }
}

int main(int argc, char** argv) {
    static const struct option options[] = {
        {"display", required_argument, NULL, 'd'}, {"flip-every", required_argument, NULL, 'f'}, {0}};
    const char* name = NULL;
    uint64_t flip_every = 0;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (option == 'd')
            name = optarg;
        else if (option == 'f')
            flip_every = strtoull(optarg, NULL, 10);
        else
            return 2;
    }
    if (!open_window(name)) {
        fprintf(stderr, "svc-stream-demo: display %s cannot be opened\n", XDisplayName(name));
        return 1;
    }
    run(flip_every);
    return 1;
}
