/* Vehicle properties and their values. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "connection.h"

static void append_list(struct text_buffer* request, const char* name, const struct svcguest_value* value,
                        void (*item)(struct text_buffer*, const struct svcguest_value*, size_t),
                        size_t count) {
    if (count == 0) return;
    text_format(request, ",\"%s\":[", name);
    for (size_t i = 0; i < count; ++i) {
        if (i > 0) text_append(request, ",", 1);
        item(request, value, i);
    }
    text_append(request, "]", 1);
}

static void append_int32(struct text_buffer* request, const struct svcguest_value* value, size_t i) {
    text_format(request, "%ld", (long)value->int32_values[i]);
}

static void append_int64(struct text_buffer* request, const struct svcguest_value* value, size_t i) {
    text_format(request, "%lld", (long long)value->int64_values[i]);
}

static void append_float(struct text_buffer* request, const struct svcguest_value* value, size_t i) {
    text_number(request, (double)value->float_values[i]);
}

static void append_byte(struct text_buffer* request, const struct svcguest_value* value, size_t i) {
    text_format(request, "%u", value->bytes[i]);
}

void append_value(struct text_buffer* request, const struct svcguest_value* value) {
    append_list(request, "int32_values", value, append_int32, value->int32_count);
    append_list(request, "int64_values", value, append_int64, value->int64_count);
    append_list(request, "float_values", value, append_float, value->float_count);
    append_list(request, "bytes", value, append_byte, value->byte_count);
    if (value->string_value == NULL) return;
    text_append(request, ",\"string_value\":", 16);
    text_string(request, value->string_value);
}

static bool read_int32(struct json_text json, int32_t* out) {
    int64_t value = 0;
    if (!json_to_int64(json, &value) || value < INT32_MIN || value > UINT32_MAX) return false;
    *out = (int32_t)(uint32_t)value;
    return true;
}

/* Where the arrays of one value are put, one behind the other. */
struct place {
    char* at;
};

static void* align(struct place* place) {
    place->at += (8 - (uintptr_t)place->at % 8) % 8;
    return place->at;
}

static void read_int32s(struct json_text list, struct place* place, struct svcguest_value* value) {
    int32_t* items = align(place);
    const char* cursor = NULL;
    for (struct json_text item; (item = json_next_item(list, &cursor)).at != NULL;)
        if (read_int32(item, &items[value->int32_count])) ++value->int32_count;
    value->int32_values = items;
    place->at += value->int32_count * sizeof(*items);
}

static void read_int64s(struct json_text list, struct place* place, struct svcguest_value* value) {
    int64_t* items = align(place);
    const char* cursor = NULL;
    for (struct json_text item; (item = json_next_item(list, &cursor)).at != NULL;)
        if (json_to_int64(item, &items[value->int64_count])) ++value->int64_count;
    value->int64_values = items;
    place->at += value->int64_count * sizeof(*items);
}

static void read_floats(struct json_text list, struct place* place, struct svcguest_value* value) {
    float* items = align(place);
    const char* cursor = NULL;
    double number = 0;
    for (struct json_text item; (item = json_next_item(list, &cursor)).at != NULL;)
        if (json_to_double(item, &number)) items[value->float_count++] = (float)number;
    value->float_values = items;
    place->at += value->float_count * sizeof(*items);
}

static void read_bytes(struct json_text list, struct place* place, struct svcguest_value* value) {
    uint8_t* items = align(place);
    const char* cursor = NULL;
    int64_t number = 0;
    for (struct json_text item; (item = json_next_item(list, &cursor)).at != NULL;)
        if (json_to_int64(item, &number) && number >= 0 && number <= UINT8_MAX)
            items[value->byte_count++] = (uint8_t)number;
    value->bytes = items;
    place->at += value->byte_count;
}

/* An item takes two characters at least and eight bytes at most, a text no more bytes than characters. */
void* read_value(struct json_text json, struct svcguest_value* value) {
    memset(value, 0, sizeof(*value));
    if (!read_int32(json_member(json, "prop"), &value->prop)) return NULL;
    read_int32(json_member(json, "area_id"), &value->area_id);
    read_int32(json_member(json, "status"), &value->status);
    json_to_int64(json_member(json, "timestamp"), &value->timestamp_ns);
    const size_t room = (size_t)(json.end - json.at) * 5 + 64;
    void* memory = malloc(room);
    if (memory == NULL) return NULL;
    struct place place = {memory};
    read_int64s(json_member(json, "int64_values"), &place, value);
    read_int32s(json_member(json, "int32_values"), &place, value);
    read_floats(json_member(json, "float_values"), &place, value);
    read_bytes(json_member(json, "bytes"), &place, value);
    const size_t left = room - (size_t)(place.at - (char*)memory);
    value->string_value = json_to_string(json_member(json, "string_value"), place.at, left) ? place.at : "";
    return memory;
}

static void append_place(struct text_buffer* request, int32_t prop, int32_t area_id) {
    text_format(request, ",\"prop\":%ld,\"area_id\":%ld", (long)prop, (long)area_id);
}

int svcguest_vehicle_get(struct svcguest* guest, int32_t prop, int32_t area_id,
                         const struct svcguest_value* with, struct svcguest_value* value) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "vhal.get");
    append_place(&request, prop, area_id);
    if (with != NULL) append_value(&request, with);
    const int result = request_finish(guest, &request, &answer);
    if (result != 0) return result;
    free(guest->values);
    guest->values = read_value(json_member(answer, "value"), value);
    return guest->values != NULL ? 0 : -EPROTO;
}

int svcguest_vehicle_set(struct svcguest* guest, const struct svcguest_value* value) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "vhal.set");
    append_place(&request, value->prop, value->area_id);
    text_format(&request, ",\"status\":%ld", (long)value->status);
    append_value(&request, value);
    return request_finish(guest, &request, &answer);
}

int svcguest_vehicle_subscribe(struct svcguest* guest, int32_t prop, const int32_t* area_ids,
                               size_t area_count, float sample_rate) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "vhal.subscribe");
    text_format(&request, ",\"props\":[{\"prop\":%ld,\"area_ids\":[", (long)prop);
    for (size_t i = 0; i < area_count; ++i) text_format(&request, i > 0 ? ",%ld" : "%ld", (long)area_ids[i]);
    text_append(&request, "]", 1);
    if (sample_rate > 0) {
        text_append(&request, ",\"sample_rate\":", 15);
        text_number(&request, (double)sample_rate);
    }
    text_append(&request, "}]", 2);
    return request_finish(guest, &request, &answer);
}

int svcguest_vehicle_provide(struct svcguest* guest, const char* configs) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "vhal.provide");
    text_append(&request, ",\"configs\":", 11);
    text_append(&request, configs, strlen(configs));
    return request_finish(guest, &request, &answer);
}

int svcguest_vehicle_reply(struct svcguest* guest, int64_t id, int32_t status,
                           const struct svcguest_value* value) {
    struct text_buffer reply = {0};
    text_format(&reply, "{\"op\":\"vhal.reply\",\"reply_to\":%lld,\"status\":%ld", (long long)id,
                (long)status);
    if (value != NULL) {
        text_format(&reply, ",\"value\":{\"status\":%ld", (long)value->status);
        append_place(&reply, value->prop, value->area_id);
        append_value(&reply, value);
        text_append(&reply, "}", 1);
    }
    text_append(&reply, "}", 1);
    const int result =
        reply.error != 0 ? reply.error : connection_send(guest, KIND_JSON, 0, reply.data, reply.size);
    text_free(&reply);
    return result;
}
