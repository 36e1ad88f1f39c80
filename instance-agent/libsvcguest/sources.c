/* Location and sensors. */
#include <errno.h>

#include "connection.h"

int svcguest_location_subscribe(struct svcguest* guest, int interval_ms, bool nmea) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "location.subscribe");
    text_format(&request, ",\"interval_ms\":%d,\"format\":\"%s\"", interval_ms, nmea ? "nmea" : "json");
    return request_finish(guest, &request, &answer);
}

int svcguest_location_unsubscribe(struct svcguest* guest) {
    return svcguest_call(guest, "location.unsubscribe", NULL, NULL);
}

int svcguest_location_get(struct svcguest* guest, struct svcguest_location* location) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "location.get");
    const int result = request_finish(guest, &request, &answer);
    if (result != 0) return result;
    return read_location(answer, location) ? 0 : -EPROTO;
}

int svcguest_sensor_activate(struct svcguest* guest, const char* type, bool on, int delay_ms) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "sensors.activate");
    text_append(&request, ",\"type\":", 8);
    text_string(&request, type);
    text_format(&request, ",\"on\":%s,\"delay_ms\":%d", on ? "true" : "false", delay_ms);
    return request_finish(guest, &request, &answer);
}
