/* Events, decoded for their handlers. */
#include <stdlib.h>
#include <string.h>

#include "connection.h"

#define MAX_SENTENCES 8

bool read_location(struct json_text json, struct svcguest_location* location) {
    const struct {
        const char* name;
        double* place;
    } fields[] = {{"latitude", &location->latitude},
                  {"longitude", &location->longitude},
                  {"altitude", &location->altitude},
                  {"speed", &location->speed},
                  {"bearing", &location->bearing},
                  {"horizontal_accuracy", &location->horizontal_accuracy},
                  {"vertical_accuracy", &location->vertical_accuracy}};
    for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); ++i)
        if (!json_to_double(json_member(json, fields[i].name), fields[i].place)) return false;
    double time = 0;
    if (!json_to_double(json_member(json, "time"), &time) || !(time > -9e18 && time < 9e18)) return false;
    location->time_ms = (int64_t)time;
    return true;
}

static void on_nmea(struct svcguest* guest, struct json_text sentences) {
    char text[MAX_SENTENCES][128];
    const char* all[MAX_SENTENCES];
    const char* cursor = NULL;
    size_t count = 0;
    for (struct json_text item;
         count < MAX_SENTENCES && (item = json_next_item(sentences, &cursor)).at != NULL;)
        if (json_to_string(item, text[count], sizeof(text[count]))) {
            all[count] = text[count];
            ++count;
        }
    guest->handlers.nmea(guest->user, all, count);
}

static bool on_location(struct svcguest* guest, struct json_text event) {
    const struct json_text sentences = json_member(event, "sentences");
    if (sentences.at != NULL) {
        if (guest->handlers.nmea == NULL) return false;
        on_nmea(guest, sentences);
        return true;
    }
    struct svcguest_location location;
    if (guest->handlers.location == NULL || !read_location(event, &location)) return false;
    guest->handlers.location(guest->user, &location);
    return true;
}

static bool on_location_enabled(struct svcguest* guest, struct json_text event) {
    bool enabled = false;
    if (guest->handlers.location_enabled == NULL) return false;
    if (!json_to_bool(json_member(event, "enabled"), &enabled)) return false;
    guest->handlers.location_enabled(guest->user, enabled);
    return true;
}

static bool on_sensor(struct svcguest* guest, struct json_text event) {
    char type[64];
    struct svcguest_sensor sensor = {type, 0, {0, 0, 0}, 0};
    if (guest->handlers.sensor == NULL || !json_to_string(json_member(event, "type"), type, sizeof(type)) ||
        !json_to_int64(json_member(event, "timestamp"), &sensor.timestamp_ns))
        return false;
    const struct json_text values = json_member(event, "values");
    const char* cursor = NULL;
    for (struct json_text item; sensor.count < 3 && (item = json_next_item(values, &cursor)).at != NULL;)
        if (!json_to_double(item, &sensor.values[sensor.count++])) return false;
    guest->handlers.sensor(guest->user, &sensor);
    return true;
}

static bool on_camera_closed(struct svcguest* guest, struct json_text event) {
    int64_t handle = 0;
    char reason[256] = "";
    if (!json_to_int64(json_member(event, "handle"), &handle) || handle < 0 || handle > UINT16_MAX)
        return false;
    json_to_string(json_member(event, "reason"), reason, sizeof(reason));
    if (guest->handlers.camera_closed != NULL)
        guest->handlers.camera_closed(guest->user, (uint16_t)handle, reason);
    struct camera* camera = find_camera(guest, (uint16_t)handle); /* the handler may have opened others */
    if (camera != NULL) forget_camera(camera);
    return guest->handlers.camera_closed != NULL;
}

static bool on_vehicle_changed(struct svcguest* guest, struct json_text event) {
    struct svcguest_value value;
    if (guest->handlers.vehicle_changed == NULL) return false;
    void* memory = read_value(json_member(event, "value"), &value);
    if (memory == NULL) return false;
    guest->handlers.vehicle_changed(guest->user, &value);
    free(memory);
    return true;
}

static bool on_vehicle_request(struct svcguest* guest, struct json_text event) {
    struct svcguest_vehicle_request request;
    const struct json_text op = json_member(event, "op");
    request.is_set = json_equals(op, "set");
    if (guest->handlers.vehicle_request == NULL || !(request.is_set || json_equals(op, "get")) ||
        !json_to_int64(json_member(event, "id"), &request.id))
        return false;
    void* memory = read_value(event, &request.value);
    if (memory == NULL) return false;
    guest->handlers.vehicle_request(guest->user, &request);
    free(memory);
    return true;
}

static const struct {
    const char* name;
    bool (*call)(struct svcguest* guest, struct json_text event);
} known[] = {{"location", on_location},
             {"location.enabled", on_location_enabled},
             {"sensor", on_sensor},
             {"camera.closed", on_camera_closed},
             {"vhal.changed", on_vehicle_changed},
             {"vhal.request", on_vehicle_request},
             {"telephony.state", on_telephony},
             {"telephony.call", on_phone_call},
             {"telephony.sms", on_sms}};

void handle_message(struct svcguest* guest, struct message* message) {
    if (message->kind == KIND_FRAME) {
        handle_frame(guest, message);
        return;
    }
    const struct json_text event = json_value(message->payload, message->payload + message->size);
    char name[64];
    if (!json_to_string(json_member(event, "event"), name, sizeof(name))) return;
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); ++i)
        if (strcmp(known[i].name, name) == 0 && known[i].call(guest, event)) return;
    if (guest->handlers.other != NULL) guest->handlers.other(guest->user, name, message->payload);
}
