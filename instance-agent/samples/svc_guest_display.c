/* svc-guest-display: draws the display of a guest without X and shows the client's input in it; an example of
 * what a display driver of such a guest does with libsvcguest (docs/guest-display.md).
 *
 *   svc-guest-display [--socket PATH] [--verbose]
 *
 * The picture is dark blue. Across its bottom a white bar moves with each picture. Each finger is a square
 * around its place, the first one red, the others orange; the pointer is a green one. Its top has four
 * fields, black until something happens: yellow while a key is down, cyan while a button is, magenta after a
 * text with an odd number of bytes, white while a button of a gamepad is down. --verbose prints each event.
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <svcguest.h>
#include <time.h>

enum { buffer_count = 3, square = 20, bar = 40, parts = 8 };
enum { blue = 0x203060, white = 0xffffff, red = 0xe02020, orange = 0xf0a020, green = 0x20c040 };
enum { field_count = 4, key_field = 0, button_field = 1, text_field = 2, pad_field = 3 };
static const uint32_t field_colours[field_count] = {0xf0d020, 0x00e0e0, 0xe000e0, white};

struct mark {
    bool seen;
    int x, y;
};

static struct {
    struct mark pointer, fingers[SVCGUEST_FINGERS];
    int fields[field_count]; /* how many are down; of texts: whether it is lit */
} client;

/* A buffer of the display. */
static struct picture {
    int number; /* -1: none */
    struct svcguest_pixels pixels;
    uint32_t width, height;
    bool free; /* it is ours */
} pictures[buffer_count];

static struct svcguest_display* display;
static struct svcguest_display_mode mode;
static bool verbose;
static unsigned turn;

static void fill(const struct picture* picture, int left, int top, int width, int height, uint32_t colour) {
    const int right = left + width < (int)picture->width ? left + width : (int)picture->width;
    const int bottom = top + height < (int)picture->height ? top + height : (int)picture->height;
    const uint32_t pixel = (colour & 0xff) << 16 | (colour & 0xff00) | colour >> 16 | 0xff000000;
    for (int y = top < 0 ? 0 : top; y < bottom; ++y) {
        uint32_t* const row = (uint32_t*)(void*)(picture->pixels.at + (size_t)y * picture->pixels.stride);
        for (int x = left < 0 ? 0 : left; x < right; ++x) row[x] = pixel;
    }
}

static void draw_mark(const struct picture* picture, const struct mark* mark, uint32_t colour) {
    if (mark->seen) fill(picture, mark->x - square, mark->y - square, 2 * square, 2 * square, colour);
}

static void draw(const struct picture* picture) {
    const int width = (int)picture->width, height = (int)picture->height, part = height / parts;
    fill(picture, 0, 0, width, height, blue);
    for (int i = 0; i < field_count; ++i)
        fill(picture, i * width / field_count, 0, width / field_count, part,
             client.fields[i] > 0 ? field_colours[i] : 0);
    fill(picture, (int)(turn++ * 8 % picture->width), height - part, bar, part, white);
    for (int i = SVCGUEST_FINGERS - 1; i >= 0; --i)
        draw_mark(picture, &client.fingers[i], i == 0 ? red : orange);
    draw_mark(picture, &client.pointer, green);
}

/* Takes memory of the mode's size in the place of what it had. */
static bool fit(struct picture* picture) {
    if (picture->number >= 0 && picture->width == mode.width && picture->height == mode.height) return true;
    if (picture->number >= 0 && svcguest_display_remove_buffer(display, (uint32_t)picture->number) != 0)
        return false; /* the streamer is busy: the picture is left out */
    picture->width = mode.width;
    picture->height = mode.height;
    picture->number =
        svcguest_display_new_buffer(display, mode.width, mode.height, SVCGUEST_RGBA, &picture->pixels);
    if (picture->number < 0)
        fprintf(stderr, "svc-guest-display: no memory: %s\n", strerror(-picture->number));
    return picture->number >= 0;
}

/* Into a buffer that is ours; where the streamer has all, the picture is left out. */
static void show_next(void) {
    for (int i = 0; i < buffer_count; ++i) {
        struct picture* const picture = &pictures[i];
        if (!picture->free || !fit(picture)) continue;
        draw(picture);
        picture->free = svcguest_display_present(display, (uint32_t)picture->number) != 0;
        return;
    }
}

static void on_mode(void* user, const struct svcguest_display_mode* now) {
    (void)user;
    mode = *now;
    if (verbose)
        printf("mode %" PRIu32 "x%" PRIu32 " density %" PRIu32 " fps %" PRIu32 " %s\n", mode.width,
               mode.height, mode.density, mode.fps, mode.watched ? "watched" : "not watched");
    show_next(); /* who begins to watch sees something at once */
}

static void on_released(void* user, uint32_t buffer) {
    (void)user;
    for (int i = 0; i < buffer_count; ++i)
        if (pictures[i].number == (int)buffer) pictures[i].free = true;
}

static void on_disconnected(void* user, const char* reason) {
    (void)user;
    mode.watched = false;
    fprintf(stderr, "svc-guest-display: %s\n", reason);
}

static void count(int field, bool pressed) {
    client.fields[field] += pressed ? 1 : -1;
}

static void on_input(void* user, const struct svcguest_input* input) {
    (void)user;
    if (verbose)
        printf("input %" PRIu32 " id %" PRIu32 " code %" PRIu32 " pressed %d at %" PRId32 " %" PRId32
               " value %g %s\n",
               input->type, input->id, input->code, input->pressed, input->x, input->y, (double)input->value,
               input->text != NULL ? input->text : "");
    switch (input->type) {
        case SVCGUEST_POINTER:
            client.pointer = (struct mark){true, input->x, input->y};
            break;
        case SVCGUEST_POINTER_BY:
            client.pointer.x += input->x;
            client.pointer.y += input->y;
            break;
        case SVCGUEST_TOUCH_DOWN:
        case SVCGUEST_TOUCH_MOVE:
            client.fingers[input->id] = (struct mark){true, input->x, input->y};
            break;
        case SVCGUEST_TOUCH_UP:
            client.fingers[input->id].seen = false;
            break;
        case SVCGUEST_KEY:
            count(key_field, input->pressed);
            break;
        case SVCGUEST_BUTTON:
            count(button_field, input->pressed);
            break;
        case SVCGUEST_PAD_BUTTON:
            count(pad_field, input->pressed);
            break;
        case SVCGUEST_TEXT:
            client.fields[text_field] = strlen(input->text) % 2 != 0;
            break;
        default:
            break;
    }
}

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* A picture each 1/fps seconds while somebody watches; else it sleeps until something happens. */
static int run(void) {
    int64_t next = now_ns();
    for (;;) {
        const int64_t left = next - now_ns();
        struct pollfd events = {.fd = svcguest_display_fd(display), .events = POLLIN};
        (void)poll(&events, 1, !mode.watched ? -1 : left > 0 ? (int)(left / 1000000 + 1) : 0);
        const int dispatched = svcguest_display_dispatch(display, 0);
        if (dispatched < 0) return dispatched;
        fflush(stdout);
        if (!mode.watched || now_ns() < next) continue;
        show_next();
        next = now_ns() + 1000000000 / (mode.fps > 0 ? mode.fps : 1);
    }
}

static int fail(int error) {
    fprintf(stderr, "svc-guest-display: %s\n", strerror(-error));
    return 1;
}

int main(int argc, char** argv) {
    static const struct option known[] = {
        {"socket", required_argument, NULL, 's'}, {"verbose", no_argument, NULL, 'v'}, {NULL, 0, NULL, 0}};
    static const struct svcguest_display_handlers handlers = {
        .mode = on_mode, .released = on_released, .input = on_input, .disconnected = on_disconnected};
    const char* path = NULL;
    for (int flag = 0; (flag = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        if (flag == 's') path = optarg;
        if (flag == 'v') verbose = true;
        if (flag == '?') return 2;
    }
    for (int i = 0; i < buffer_count; ++i) pictures[i] = (struct picture){.number = -1, .free = true};
    int error = 0;
    display = svcguest_display_open(path, &handlers, sizeof handlers, NULL, &error);
    if (display == NULL) return fail(error);
    error = run();
    svcguest_display_close(display);
    return fail(error);
}
