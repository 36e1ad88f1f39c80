/* What the streamer says, packet by packet. */
#define _GNU_SOURCE
#include <string.h>

#include "display.h"

void note_reason(struct svcguest_display* display, const char* reason) {
    const size_t length = strnlen(reason, sizeof display->reason - 1);
    memcpy(display->reason, reason, length);
    display->reason[length] = '\0';
}

static bool take_mode(struct svcguest_display* display, const char* packet, size_t size) {
    struct wire_mode wire;
    if (size != sizeof wire) return false;
    memcpy(&wire, packet, sizeof wire);
    const struct svcguest_display_mode mode = {wire.width, wire.height, wire.density, wire.fps,
                                               wire.watched != 0};
    display->ready = true;
    display->refused[0] = '\0';
    if (display->handlers.mode != NULL) display->handlers.mode(display->user, &mode);
    return true;
}

static bool take_release(struct svcguest_display* display, const char* packet, size_t size) {
    struct wire_turn wire;
    if (size != sizeof wire) return false;
    memcpy(&wire, packet, sizeof wire);
    (void)return_buffer(display, wire.buffer, wire.turn);
    return true;
}

static bool take_input_event(struct svcguest_display* display, const char* packet, size_t size) {
    struct wire_input wire;
    if (size != sizeof wire) return false;
    memcpy(&wire, packet, sizeof wire);
    return take_input(display, &wire);
}

bool take_packet(struct svcguest_display* display, const char* packet, size_t size) {
    uint32_t kind = 0;
    if (size < sizeof kind) return false;
    memcpy(&kind, packet, sizeof kind);
    if (kind == WIRE_MODE) return take_mode(display, packet, size);
    if (kind == WIRE_REFUSED) {
        note_reason(display, packet + sizeof kind);
        return true;
    }
    if (!display->ready) return false;
    switch (kind) {
        case WIRE_RELEASE:
            return take_release(display, packet, size);
        case WIRE_INPUT:
            return take_input_event(display, packet, size);
        case WIRE_TEXT:
            take_text(display, packet + sizeof kind);
            return true;
        case WIRE_RELEASE_ALL:
            let_go(display);
            return true;
        default:
            return false;
    }
}
