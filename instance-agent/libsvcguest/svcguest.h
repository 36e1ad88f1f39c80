/* A program's connection to the guest interface of svc-agent: receives the instance's location, sensor values
 * and camera frames, uses or provides vehicle properties, is the instance's phone, and draws its display.
 * docs/guest-interface.md describes the protocol.
 *
 * Threads: one thread at a time may use a connection. Different connections are independent.
 * Errors: functions return 0 or a negative errno. SVCGUEST_REFUSED: the agent refused the request;
 * svcguest_error() returns the reason. -EINVAL: a number that JSON cannot express (not finite). -ETIMEDOUT:
 * no answer in time; a later one is dropped. When svcguest_is_alive() turns false (the agent has ended or was
 * restarted), close the connection, make a new one, and subscribe again.
 * Signals: the library raises none, and continues to wait after one. To wait for other descriptors too, poll
 * svcguest_fd().
 * Memory: what a handler gets is valid during the handler; what a call returns is valid until the next call.
 * Versions: structures keep their layout as long as the library is libsvcguest.so.1; new handlers are added
 * at the end of struct svcguest_handlers.
 */
#ifndef SVCGUEST_H
#define SVCGUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef SVCGUEST_API
#define SVCGUEST_API
#endif

#define SVCGUEST_SOCKET "/run/svc/guest.unix"
#define SVCGUEST_REFUSED (-10000)

struct svcguest; /* a connection */

struct svcguest_location {
    double latitude, longitude; /* degrees, north and east positive */
    double altitude;            /* metres */
    double speed;               /* metres per second */
    double bearing;             /* degrees */
    double horizontal_accuracy; /* metres */
    double vertical_accuracy;   /* metres */
    int64_t time_ms;            /* milliseconds since 1970, UTC */
};

struct svcguest_sensor {
    const char* type;     /* "acceleration", ... */
    int64_t timestamp_ns; /* CLOCK_BOOTTIME */
    double values[3];     /* x, y, z; azimuth, pitch, roll; or one value */
    size_t count;         /* 1 or 3 */
};

struct svcguest_camera {
    uint16_t handle;
    uint32_t width, height; /* pixels */
    uint32_t stride;        /* bytes from one line to the next */
    uint32_t slots;         /* frames that the program may hold at once */
};

struct svcguest_frame {
    uint16_t handle;       /* of the camera */
    uint32_t slot;         /* for svcguest_release_frame() */
    uint64_t timestamp_ns; /* CLOCK_BOOTTIME */
    uint32_t width, height, stride;
    uint32_t fourcc; /* 'RGBA', first letter in the lowest byte */
    uint32_t size;   /* bytes */
    const uint8_t*
        pixels; /* shared with the agent; invalid after the release, and after the camera was closed */
};

/* A value of a vehicle property. Empty arrays may be NULL. */
struct svcguest_value {
    int32_t prop, area_id;
    int32_t status;       /* 0 available, 1 unavailable, 2 error */
    int64_t timestamp_ns; /* CLOCK_BOOTTIME of the last set; 0: never set. Ignored in requests */
    const int32_t* int32_values;
    size_t int32_count;
    const int64_t* int64_values;
    size_t int64_count;
    const float* float_values;
    size_t float_count;
    const uint8_t* bytes;
    size_t byte_count;
    const char* string_value; /* UTF-8; NULL: none */
};

/* A request of the agent to a provider. Answer with svcguest_vehicle_reply() within a second. */
struct svcguest_vehicle_request {
    int64_t id;
    bool is_set;                 /* else a get */
    struct svcguest_value value; /* property and area; for a set also the new value */
};

/* What the instance's phone knows of its SIM and network. Texts that it does not know are "". */
struct svcguest_telephony {
    const char* sim; /* "absent", "blocked", "ready" */
    const char *number, *iccid, *imsi;
    const char* registration; /* "unregistered", "searching", "denied", "home", "roaming" */
    const char *operator_name, *operator_code;
    int32_t signal; /* percent */
    bool service;   /* calls can begin, messages be sent */
};

struct svcguest_phone_call {
    int64_t call; /* its id */
    bool is_incoming;
    const char* number;
    const char* state;      /* "ringing", "dialing", "alerting", "active", "held", "ended" */
    const char* end_reason; /* of a call that has ended, else "" */
    int64_t time_ms;        /* of its beginning, since 1970, UTC */
};

struct svcguest_sms {
    int64_t sms; /* its id */
    const char* number;
    const char* message; /* UTF-8 */
    int64_t time_ms;
};

/* The functions that svcguest_dispatch() calls. Each may be NULL. A handler may make calls on the connection,
 * but not close it. */
struct svcguest_handlers {
    void (*location)(void* user, const struct svcguest_location* location);
    void (*nmea)(void* user, const char* const* sentences, size_t count);
    void (*location_enabled)(void* user, bool enabled);
    void (*sensor)(void* user, const struct svcguest_sensor* sensor);
    /* Each frame must be released. Without this handler frames are released at once. */
    void (*frame)(void* user, const struct svcguest_frame* frame);
    /* The agent has closed the camera. Pixels of its frames are valid until the handler returns. */
    void (*camera_closed)(void* user, uint16_t handle, const char* reason);
    void (*vehicle_changed)(void* user, const struct svcguest_value* value);
    void (*vehicle_request)(void* user, const struct svcguest_vehicle_request* request);
    /* Events without a handler of their own, as JSON text. */
    void (*other)(void* user, const char* event, const char* json);
    void (*telephony)(void* user, const struct svcguest_telephony* telephony);
    void (*phone_call)(void* user, const struct svcguest_phone_call* call);
    /* A message that waits. It comes again until svcguest_telephony_take_sms(). */
    void (*sms)(void* user, const struct svcguest_sms* sms);
};

/* Connects and says hello. `path` NULL: SVCGUEST_SOCKET. `name`: the program's name. Returns NULL on failure;
 * then `*error` (`error` may be NULL) is a negative errno or SVCGUEST_REFUSED. */
SVCGUEST_API struct svcguest* svcguest_connect(const char* path, const char* name, int* error);
SVCGUEST_API void svcguest_close(struct svcguest* guest); /* does nothing for NULL */
SVCGUEST_API bool svcguest_has_feature(const struct svcguest* guest,
                                       const char* name); /* "location", "camera", ... */
/* The reason why the last call was refused, or "". */
SVCGUEST_API const char* svcguest_error(const struct svcguest* guest);
/* False: the connection has ended; all calls fail with -EPIPE. */
SVCGUEST_API bool svcguest_is_alive(const struct svcguest* guest);
/* The time limit for answers. Initially 5000 ms; -1: none. */
SVCGUEST_API void svcguest_set_timeout(struct svcguest* guest, int milliseconds);
/* Copies `handlers`; `size` is sizeof(struct svcguest_handlers). NULL and 0: no handlers. */
SVCGUEST_API void svcguest_set_handlers(struct svcguest* guest, const struct svcguest_handlers* handlers,
                                        size_t size, void* user);

/* A descriptor for event loops: readable (POLLIN) while svcguest_dispatch() has something to do. The
 * connection owns it.
 */
SVCGUEST_API int svcguest_fd(const struct svcguest* guest);
/* Calls the handlers of the events that have come. Waits at most `timeout_ms` for the first event (0: does
 * not wait, -1: no limit). Returns the number of events, or a negative errno. */
SVCGUEST_API int svcguest_dispatch(struct svcguest* guest, int timeout_ms);

/* Any operation: `members` are further members of the request as JSON without braces ("\"type\":\"light\""),
 * or NULL. `*answer` (may be NULL): the whole answer as JSON text. */
SVCGUEST_API int svcguest_call(struct svcguest* guest, const char* op, const char* members,
                               const char** answer);

SVCGUEST_API int svcguest_location_subscribe(struct svcguest* guest, int interval_ms, bool nmea);
SVCGUEST_API int svcguest_location_unsubscribe(struct svcguest* guest);
SVCGUEST_API int svcguest_location_get(struct svcguest* guest, struct svcguest_location* location);

SVCGUEST_API int svcguest_sensor_activate(struct svcguest* guest, const char* type, bool on, int delay_ms);

/* `camera`: an id of camera.list. Frames go to the handler; the program may hold `slots` of them at once. */
SVCGUEST_API int svcguest_camera_open(struct svcguest* guest, const char* camera, uint32_t width,
                                      uint32_t height, uint32_t fps, struct svcguest_camera* opened);
SVCGUEST_API int svcguest_camera_close(struct svcguest* guest, uint16_t handle);
SVCGUEST_API int svcguest_release_frame(struct svcguest* guest, uint16_t handle, uint32_t slot);

/* `with`: arguments of properties whose get takes some, else NULL. */
SVCGUEST_API int svcguest_vehicle_get(struct svcguest* guest, int32_t prop, int32_t area_id,
                                      const struct svcguest_value* with, struct svcguest_value* value);
SVCGUEST_API int svcguest_vehicle_set(struct svcguest* guest, const struct svcguest_value* value);
/* `sample_rate`: in Hz, for continuous properties; 0: the rate of the configuration. */
SVCGUEST_API int svcguest_vehicle_subscribe(struct svcguest* guest, int32_t prop, const int32_t* area_ids,
                                            size_t area_count, float sample_rate);
/* Makes this program the provider of the properties. `configs`: a JSON array like the answer to vhal.configs.
 */
SVCGUEST_API int svcguest_vehicle_provide(struct svcguest* guest, const char* configs);
/* `status`: 0 for success; `value`: the value of a successful get, else NULL. Does not wait for an answer. */
SVCGUEST_API int svcguest_vehicle_reply(struct svcguest* guest, int64_t id, int32_t status,
                                        const struct svcguest_value* value);

/* Makes this program the instance's phone, or one of several. `telephony` (may be NULL): the state now. Calls
 * and messages that are there come as events. docs/telephony.md has the rules. */
SVCGUEST_API int svcguest_telephony_subscribe(struct svcguest* guest, struct svcguest_telephony* telephony);
SVCGUEST_API int svcguest_telephony_unsubscribe(struct svcguest* guest);
SVCGUEST_API int svcguest_telephony_dial(struct svcguest* guest, const char* number, int64_t* call);
SVCGUEST_API int svcguest_telephony_answer(struct svcguest* guest, int64_t call); /* rings, or is held */
SVCGUEST_API int svcguest_telephony_hold(struct svcguest* guest, int64_t call);
SVCGUEST_API int svcguest_telephony_hang_up(struct svcguest* guest, int64_t call); /* or rejects it */
/* `*sms` (may be NULL): the id of the message. */
SVCGUEST_API int svcguest_telephony_send_sms(struct svcguest* guest, const char* number, const char* message,
                                             int64_t* sms);
SVCGUEST_API int svcguest_telephony_take_sms(struct svcguest* guest, int64_t sms);

/* The display of a guest without X (docs/guest-display.md): the program draws into buffers that it shares
 * with the streamer, and gets the client's input. This is a connection of its own, to the streamer; it needs
 * no struct svcguest.
 *
 * A connection is made for as long as the program runs. It waits for a streamer, and for the next one when
 * that ends; meanwhile svcguest_display_present() returns -ENOTCONN and all buffers are the program's.
 * Threads: as above. Only svcguest_display_dispatch() calls handlers, and no other call waits. A handler may
 * make calls on the connection, but not close or dispatch it. */
struct svcguest_display;

#define SVCGUEST_DISPLAY_SOCKET "/run/svc/display.unix"
#define SVCGUEST_DISPLAY_BUFFERS 8 /* a display has at most; numbered from 0 */
#define SVCGUEST_FINGERS 10
#define SVCGUEST_PADS 4

/* Pixels have 32 bits; these are DRM's codes. Of alpha nothing is taken. */
#define SVCGUEST_RGBA 0x34324241U /* DRM_FORMAT_ABGR8888: red is the first byte; RGBA_8888 of Android */
#define SVCGUEST_RGBX 0x34324258U /* DRM_FORMAT_XBGR8888; RGBX_8888 of Android */
#define SVCGUEST_BGRA 0x34325241U /* DRM_FORMAT_ARGB8888; BGRA_8888 of Android */
#define SVCGUEST_BGRX 0x34325258U /* DRM_FORMAT_XRGB8888 */

struct svcguest_display_mode {
    uint32_t width, height; /* pixels; pictures of another size are scaled, with borders */
    uint32_t density;       /* dots per inch */
    uint32_t fps;           /* pictures a second; more are not sent */
    bool watched;           /* false: nobody sees it, there is no need to draw */
};

struct svcguest_buffer {
    uint32_t width, height; /* pixels, 2 to 4096 */
    uint32_t stride;        /* bytes from row to row: 4 * width to 32768 */
    uint32_t offset;        /* bytes before the first pixel */
    uint32_t fourcc;        /* one of the four above */
    uint64_t modifier;      /* DRM's; 0, linear, is the only one that works */
};

struct svcguest_pixels {
    uint8_t* at;
    uint32_t stride; /* bytes from row to row */
};

enum svcguest_input_type {
    SVCGUEST_POINTER = 1,     /* x, y: place */
    SVCGUEST_POINTER_BY = 2,  /* x, y: movement, of a pointer that has no place */
    SVCGUEST_WHEEL = 3,       /* x, y: steps; y = -1 is down */
    SVCGUEST_BUTTON = 4,      /* code: BTN_LEFT, ...; pressed */
    SVCGUEST_KEY = 5,         /* code: KEY_A, ...; pressed */
    SVCGUEST_TOUCH_DOWN = 6,  /* id: the finger; x, y: place */
    SVCGUEST_TOUCH_MOVE = 7,  /* the same */
    SVCGUEST_TOUCH_UP = 8,    /* id */
    SVCGUEST_TEXT = 9,        /* text, which somebody typed or dictated: no keys come with it */
    SVCGUEST_PAD_BUTTON = 10, /* id: the gamepad; code: BTN_SOUTH, ...; pressed */
    SVCGUEST_PAD_AXIS = 11    /* id; code: ABS_X, ABS_Y, ABS_RX, ABS_RY, ABS_Z, ABS_RZ; value */
};

/* An event of the client's. Members that its type does not name are 0. */
struct svcguest_input {
    uint32_t type; /* enum svcguest_input_type; ignore those that you do not know */
    uint32_t id;   /* finger, 0 to 9; gamepad, 0 to 3 */
    uint32_t code; /* of linux/input-event-codes.h */
    bool pressed;
    int32_t x, y;     /* pixels of the mode; a place is always inside */
    float value;      /* -1 to 1; triggers, ABS_Z and ABS_RZ: 0 to 1 */
    const char* text; /* UTF-8 */
};

struct svcguest_display_handlers {
    /* There is a streamer, or the mode has changed. Buffers of the old size still work. */
    void (*mode)(void* user, const struct svcguest_display_mode* mode);
    /* The buffer is the program's again: draw the next picture into it. */
    void (*released)(void* user, uint32_t buffer);
    /* Whatever goes down comes up again: the library lets go of it when client or streamer go. */
    void (*input)(void* user, const struct svcguest_input* input);
    /* The streamer has ended, or did not want the program: `reason` is its text, or that of the error. Comes
     * after all buffers were released and nothing is down. The next mode tells of the next streamer. */
    void (*disconnected)(void* user, const char* reason);
};

/* `path` NULL: SVCGUEST_DISPLAY_SOCKET. Does not need a streamer. Copies `handlers`; `size` is
 * sizeof(struct svcguest_display_handlers). NULL on failure; then `*error` (may be NULL) is a negative errno.
 */
SVCGUEST_API struct svcguest_display* svcguest_display_open(const char* path,
                                                            const struct svcguest_display_handlers* handlers,
                                                            size_t size, void* user, int* error);
SVCGUEST_API void svcguest_display_close(struct svcguest_display* display); /* does nothing for NULL */

/* Readable (POLLIN) while svcguest_display_dispatch() has something to do, also when it is time to look for a
 * streamer. The connection owns it. */
SVCGUEST_API int svcguest_display_fd(const struct svcguest_display* display);
/* Connects, and calls the handlers of what has come. Waits at most `timeout_ms` for the first event (0: does
 * not wait, -1: no limit). Returns the number of events, or a negative errno. */
SVCGUEST_API int svcguest_display_dispatch(struct svcguest_display* display, int timeout_ms);

/* Shares memory with the streamers, this one and later ones. `memory` is a memfd that can never shrink
 * (F_SEAL_SHRINK), or a dmabuf that the processor can read; the library duplicates it. Returns the buffer's
 * number; -ENOSPC: there are SVCGUEST_DISPLAY_BUFFERS; -EAGAIN: try again. The streamer checks the rest and
 * ends the connection if something is wrong with it. */
SVCGUEST_API int svcguest_display_add_buffer(struct svcguest_display* display,
                                             const struct svcguest_buffer* buffer, int memory);
/* The same with new memory, which is mapped at `*pixels` until the buffer is removed. */
SVCGUEST_API int svcguest_display_new_buffer(struct svcguest_display* display, uint32_t width,
                                             uint32_t height, uint32_t fourcc,
                                             struct svcguest_pixels* pixels);
/* Takes the buffer away; a picture of it may still be seen until the next one. No release follows. -EINVAL:
 * there is no such buffer; -EAGAIN: the streamer is busy, and the buffer stays. */
SVCGUEST_API int svcguest_display_remove_buffer(struct svcguest_display* display, uint32_t buffer);
/* Shows the buffer, whose pixels are complete: a GPU has finished them. It is the streamer's until it is
 * released: do not write to it. The newest picture is kept, so the last buffer comes back when another one is
 * presented. -EINVAL: there is no such buffer; -EBUSY: it is the streamer's already; -ENOTCONN: there is no
 * streamer; -EAGAIN: the streamer is busy. After an error the buffer is whose it was. */
SVCGUEST_API int svcguest_display_present(struct svcguest_display* display, uint32_t buffer);

#ifdef __cplusplus
}
#endif

#endif
