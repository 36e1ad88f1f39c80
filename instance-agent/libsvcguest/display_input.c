/* The client's input: what is down, so that all of it comes up again. */
#include <linux/input-event-codes.h>
#include <math.h>

#include "display.h"

static void tell(struct svcguest_display* display, const struct svcguest_input* input) {
    if (display->handlers.input != NULL) display->handlers.input(display->user, input);
}

static bool is_held(const struct held_codes* codes, uint32_t code) {
    return (codes->bits[code / 8] >> code % 8 & 1) != 0;
}

/* False: it is so already. */
static bool hold(struct held_codes* codes, uint32_t code, bool pressed) {
    if (is_held(codes, code) == pressed) return false;
    codes->bits[code / 8] ^= (uint8_t)(1U << code % 8);
    return true;
}

static bool take_code(struct svcguest_display* display, const struct svcguest_input* input) {
    const bool of_pad = input->type == SVCGUEST_PAD_BUTTON;
    if (input->code >= HELD_CODES || (of_pad && input->id >= SVCGUEST_PADS)) return false;
    struct held_codes* codes = of_pad ? &display->held.pads[input->id] : &display->held.keys;
    if (hold(codes, input->code, input->pressed)) tell(display, input);
    return true;
}

static bool take_touch(struct svcguest_display* display, const struct svcguest_input* input) {
    if (input->id >= SVCGUEST_FINGERS) return false;
    bool* const finger = &display->held.fingers[input->id];
    if (*finger == (input->type == SVCGUEST_TOUCH_DOWN))
        return true; /* it went down before the program came */
    *finger = input->type != SVCGUEST_TOUCH_UP;
    tell(display, input);
    return true;
}

static bool take_axis(struct svcguest_display* display, const struct svcguest_input* input) {
    if (input->id >= SVCGUEST_PADS || input->code >= HELD_AXES || !isfinite(input->value)) return false;
    display->held.axes[input->id][input->code] = input->value;
    tell(display, input);
    return true;
}

bool take_input(struct svcguest_display* display, const struct wire_input* wire) {
    const struct svcguest_input input = {wire->type, wire->id, wire->code,  wire->pressed != 0,
                                         wire->x,    wire->y,  wire->value, NULL};
    switch (wire->type) {
        case SVCGUEST_POINTER:
        case SVCGUEST_POINTER_BY:
        case SVCGUEST_WHEEL:
            tell(display, &input);
            return true;
        case SVCGUEST_BUTTON:
        case SVCGUEST_KEY:
        case SVCGUEST_PAD_BUTTON:
            return take_code(display, &input);
        case SVCGUEST_TOUCH_DOWN:
        case SVCGUEST_TOUCH_MOVE:
        case SVCGUEST_TOUCH_UP:
            return take_touch(display, &input);
        case SVCGUEST_PAD_AXIS:
            return take_axis(display, &input);
        default:
            return false;
    }
}

void take_text(struct svcguest_display* display, const char* text) {
    const struct svcguest_input input = {.type = SVCGUEST_TEXT, .text = text};
    tell(display, &input);
}

static void let_go_of_codes(struct svcguest_display* display, uint32_t id, struct held_codes* codes,
                            bool of_pad) {
    for (uint32_t code = 0; code < HELD_CODES; ++code) {
        if (!hold(codes, code, false)) continue;
        const uint32_t type = of_pad                              ? SVCGUEST_PAD_BUTTON
                              : code >= BTN_MISC && code < KEY_OK ? SVCGUEST_BUTTON
                                                                  : SVCGUEST_KEY;
        const struct svcguest_input input = {.type = type, .id = id, .code = code};
        tell(display, &input);
    }
}

static void let_go_of_axes(struct svcguest_display* display, uint32_t pad) {
    for (uint32_t code = 0; code < HELD_AXES; ++code) {
        if (display->held.axes[pad][code] == 0) continue;
        display->held.axes[pad][code] = 0;
        const struct svcguest_input input = {.type = SVCGUEST_PAD_AXIS, .id = pad, .code = code};
        tell(display, &input);
    }
}

void let_go(struct svcguest_display* display) {
    for (uint32_t finger = 0; finger < SVCGUEST_FINGERS; ++finger) {
        const struct svcguest_input input = {.type = SVCGUEST_TOUCH_UP, .id = finger};
        (void)take_touch(display, &input);
    }
    let_go_of_codes(display, 0, &display->held.keys, false);
    for (uint32_t pad = 0; pad < SVCGUEST_PADS; ++pad) {
        let_go_of_codes(display, pad, &display->held.pads[pad], true);
        let_go_of_axes(display, pad);
    }
}
