/* svc-guest-cat: prints what the guest interface gives, a line each, and shows how a program uses
 * libsvcguest.
 *
 *   svc-guest-cat [--socket PATH] [--count N] [--nmea] [--pixels FILE] location | sensor TYPE DELAY_MS |
 *                 camera ID WIDTH HEIGHT FPS | vehicle PROP [AREA] | telephony | call OP [MEMBERS]
 *
 * Ends after N events (default: never). `camera` prints size and first pixel of each frame and writes the
 * newest one's RGBA to FILE, `vehicle` prints the present value and each change, `telephony` SIM and network,
 * calls and messages (they go on waiting), `call` the answer to any operation. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <svcguest.h>

static long events_left = -1;
static struct svcguest* guest;
static const char* pixels_file;

static void count_event(void) {
    fflush(stdout);
    if (events_left > 0) --events_left;
}

static void print_location(void* user, const struct svcguest_location* l) {
    (void)user;
    printf("location %.7f %.7f altitude %.2f speed %.2f bearing %.2f accuracy %.1f %.1f time %" PRId64 "\n",
           l->latitude, l->longitude, l->altitude, l->speed, l->bearing, l->horizontal_accuracy,
           l->vertical_accuracy, l->time_ms);
    count_event();
}

static void print_sentences(void* user, const char* const* sentences, size_t count) {
    (void)user;
    for (size_t i = 0; i < count; ++i) printf("%s%s", sentences[i], strchr(sentences[i], '\n') ? "" : "\n");
    count_event();
}

static void print_enabled(void* user, bool enabled) {
    (void)user;
    printf("location %s\n", enabled ? "enabled" : "disabled");
    count_event();
}

static void print_sensor(void* user, const struct svcguest_sensor* sensor) {
    (void)user;
    printf("sensor %s", sensor->type);
    for (size_t i = 0; i < sensor->count; ++i) printf(" %g", sensor->values[i]);
    printf(" time %" PRId64 "\n", sensor->timestamp_ns);
    count_event();
}

/* Beside, then moved: whoever reads it sees one frame, whole. */
static void write_pixels(const struct svcguest_frame* frame) {
    char part[4096];
    const int length = snprintf(part, sizeof part, "%s.part", pixels_file);
    FILE* const file = length < (int)sizeof part ? fopen(part, "wb") : NULL;
    bool written = file != NULL;
    for (uint32_t y = 0; written && y < frame->height; ++y)
        written = fwrite(frame->pixels + (size_t)y * frame->stride, 4, frame->width, file) == frame->width;
    if (file != NULL && fclose(file) != 0) written = false;
    if (!written || rename(part, pixels_file) != 0) perror("svc-guest-cat: cannot write pixels");
}

static void print_frame(void* user, const struct svcguest_frame* frame) {
    (void)user;
    if (pixels_file != NULL) write_pixels(frame);
    printf("frame %" PRIu32 "x%" PRIu32 " slot %" PRIu32 " first %02x%02x%02x%02x time %" PRIu64 "\n",
           frame->width, frame->height, frame->slot, frame->pixels[0], frame->pixels[1], frame->pixels[2],
           frame->pixels[3], frame->timestamp_ns);
    svcguest_release_frame(guest, frame->handle, frame->slot);
    count_event();
}

static void print_camera_closed(void* user, uint16_t handle, const char* reason) {
    (void)user;
    printf("camera %u closed: %s\n", handle, reason);
    count_event();
}

static void print_value(void* user, const struct svcguest_value* value) {
    (void)user;
    printf("property %" PRId32 " area %" PRId32 " status %" PRId32, value->prop, value->area_id,
           value->status);
    for (size_t i = 0; i < value->int32_count; ++i) printf(" %" PRId32, value->int32_values[i]);
    for (size_t i = 0; i < value->int64_count; ++i) printf(" %" PRId64, value->int64_values[i]);
    for (size_t i = 0; i < value->float_count; ++i) printf(" %g", (double)value->float_values[i]);
    for (size_t i = 0; i < value->byte_count; ++i) printf(" %02x", value->bytes[i]);
    if (*value->string_value != '\0') printf(" \"%s\"", value->string_value);
    printf("\n");
    count_event();
}

static void print_other(void* user, const char* event, const char* json) {
    (void)user;
    printf("%s %s\n", event, json);
    count_event();
}

static void print_telephony(void* user, const struct svcguest_telephony* t) {
    (void)user;
    printf("telephony sim %s registration %s operator \"%s\" signal %" PRId32 "\n", t->sim, t->registration,
           t->operator_name, t->signal);
    count_event();
}

static void print_phone_call(void* user, const struct svcguest_phone_call* call) {
    (void)user;
    printf("call %" PRId64 " %s %s %s%s%s\n", call->call, call->is_incoming ? "from" : "to", call->number,
           call->state, *call->end_reason != '\0' ? " by " : "", call->end_reason);
    count_event();
}

static void print_sms(void* user, const struct svcguest_sms* sms) {
    (void)user;
    printf("sms %" PRId64 " from %s: %s\n", sms->sms, sms->number, sms->message);
    count_event();
}

static int watch_telephony(void) {
    struct svcguest_telephony now;
    const int result = svcguest_telephony_subscribe(guest, &now);
    if (result == 0) print_telephony(NULL, &now);
    return result;
}

static int watch_vehicle(int32_t prop, int32_t area) {
    struct svcguest_value value;
    int result = svcguest_vehicle_get(guest, prop, area, NULL, &value);
    if (result == 0) print_value(NULL, &value);
    return result == 0 ? svcguest_vehicle_subscribe(guest, prop, &area, 1, 0) : result;
}

static int call(const char* op, const char* members) {
    const char* answer = NULL;
    const int result = svcguest_call(guest, op, members, &answer);
    if (result == 0) printf("%s\n", answer);
    events_left = 0;
    return result;
}

static int32_t id_of(const char* text) {
    return (int32_t)strtoll(text, NULL, 0);
}

/* Asks for what is to be printed. */
static int subscribe(int count, char** words, bool nmea) {
    struct svcguest_camera camera;
    if (count == 1 && strcmp(words[0], "location") == 0)
        return svcguest_location_subscribe(guest, 1000, nmea);
    if (count == 3 && strcmp(words[0], "sensor") == 0)
        return svcguest_sensor_activate(guest, words[1], true, atoi(words[2]));
    if (count == 5 && strcmp(words[0], "camera") == 0)
        return svcguest_camera_open(guest, words[1], (uint32_t)atoi(words[2]), (uint32_t)atoi(words[3]),
                                    (uint32_t)atoi(words[4]), &camera);
    if ((count == 2 || count == 3) && strcmp(words[0], "vehicle") == 0)
        return watch_vehicle(id_of(words[1]), count == 3 ? id_of(words[2]) : 0);
    if (count == 1 && strcmp(words[0], "telephony") == 0) return watch_telephony();
    if ((count == 2 || count == 3) && strcmp(words[0], "call") == 0)
        return call(words[1], count == 3 ? words[2] : NULL);
    fprintf(stderr, "svc-guest-cat: what is to be printed?\n");
    exit(2);
}

static int fail(int error) {
    fprintf(stderr, "svc-guest-cat: %s\n",
            error != SVCGUEST_REFUSED ? strerror(-error)
            : guest != NULL           ? svcguest_error(guest)
                                      : "refused");
    svcguest_close(guest);
    return 1;
}

int main(int argc, char** argv) {
    static const struct option known[] = {{"socket", required_argument, NULL, 's'},
                                          {"count", required_argument, NULL, 'n'},
                                          {"nmea", no_argument, NULL, 'm'},
                                          {"pixels", required_argument, NULL, 'p'},
                                          {NULL, 0, NULL, 0}};
    static const struct svcguest_handlers handlers = {
        .location = print_location,
        .nmea = print_sentences,
        .location_enabled = print_enabled,
        .sensor = print_sensor,
        .frame = print_frame,
        .camera_closed = print_camera_closed,
        .vehicle_changed = print_value,
        .other = print_other,
        .telephony = print_telephony,
        .phone_call = print_phone_call,
        .sms = print_sms,
    };
    const char* path = NULL;
    bool nmea = false;
    for (int flag = 0; (flag = getopt_long(argc, argv, "+", known, NULL)) != -1;) {
        if (flag == 's') path = optarg;
        if (flag == 'n') events_left = atol(optarg);
        if (flag == 'm') nmea = true;
        if (flag == 'p') pixels_file = optarg;
        if (flag == '?') return 2;
    }
    int error = 0;
    guest = svcguest_connect(path, "svc-guest-cat", &error);
    if (guest == NULL) return fail(error);
    svcguest_set_handlers(guest, &handlers, sizeof(handlers), NULL);
    error = subscribe(argc - optind, argv + optind, nmea);
    while (error >= 0 && events_left != 0) error = svcguest_dispatch(guest, -1);
    if (error < 0) return fail(error);
    svcguest_close(guest);
    return 0;
}
