/* The instance's phone: SIM and network, calls, messages. */
#include <errno.h>
#include <stdlib.h>

#include "connection.h"

/* Where the texts of one object are put, one behind the other. Unescaped and with a NUL, no text is longer
 * than in the object. */
struct texts {
    char *at, *end;
};

static void* make_texts(struct json_text json, struct texts* texts) {
    const size_t room = json.at != NULL ? (size_t)(json.end - json.at) : 0;
    texts->at = malloc(room + 1);
    if (texts->at != NULL) texts->end = texts->at + room + 1;
    return texts->at;
}

/* "" for a text that is not there. */
static const char* take_text(struct texts* texts, struct json_text json, const char* name) {
    char* text = texts->at;
    if (!json_to_string(json_member(json, name), text, (size_t)(texts->end - text))) return "";
    while (*texts->at++ != '\0') continue;
    return text;
}

/* The caller frees the returned memory; NULL: out of memory. */
static void* read_telephony(struct json_text json, struct svcguest_telephony* telephony) {
    struct texts texts;
    int64_t signal = 0;
    void* memory = make_texts(json, &texts);
    if (memory == NULL) return NULL;
    telephony->sim = take_text(&texts, json, "sim");
    telephony->number = take_text(&texts, json, "number");
    telephony->iccid = take_text(&texts, json, "iccid");
    telephony->imsi = take_text(&texts, json, "imsi");
    telephony->registration = take_text(&texts, json, "registration");
    telephony->operator_name = take_text(&texts, json, "operator");
    telephony->operator_code = take_text(&texts, json, "operator_code");
    telephony->signal = json_to_int64(json_member(json, "signal"), &signal) && signal >= 0 && signal <= 100
                            ? (int32_t)signal
                            : 0;
    if (!json_to_bool(json_member(json, "service"), &telephony->service)) telephony->service = false;
    return memory;
}

bool on_telephony(struct svcguest* guest, struct json_text event) {
    struct svcguest_telephony telephony;
    if (guest->handlers.telephony == NULL) return false;
    void* memory = read_telephony(event, &telephony);
    if (memory == NULL) return false;
    guest->handlers.telephony(guest->user, &telephony);
    free(memory);
    return true;
}

bool on_phone_call(struct svcguest* guest, struct json_text event) {
    struct svcguest_phone_call call;
    struct texts texts;
    if (guest->handlers.phone_call == NULL || !json_to_int64(json_member(event, "call"), &call.call) ||
        !json_to_int64(json_member(event, "time"), &call.time_ms))
        return false;
    void* memory = make_texts(event, &texts);
    if (memory == NULL) return false;
    call.is_incoming = json_equals(json_member(event, "direction"), "incoming");
    call.number = take_text(&texts, event, "number");
    call.state = take_text(&texts, event, "state");
    call.end_reason = take_text(&texts, event, "end_reason");
    guest->handlers.phone_call(guest->user, &call);
    free(memory);
    return true;
}

bool on_sms(struct svcguest* guest, struct json_text event) {
    struct svcguest_sms sms;
    struct texts texts;
    if (guest->handlers.sms == NULL || !json_to_int64(json_member(event, "sms"), &sms.sms) ||
        !json_to_int64(json_member(event, "time"), &sms.time_ms))
        return false;
    void* memory = make_texts(event, &texts);
    if (memory == NULL) return false;
    sms.number = take_text(&texts, event, "number");
    sms.message = take_text(&texts, event, "message");
    guest->handlers.sms(guest->user, &sms);
    free(memory);
    return true;
}

int svcguest_telephony_subscribe(struct svcguest* guest, struct svcguest_telephony* telephony) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, "telephony.subscribe");
    const int result = request_finish(guest, &request, &answer);
    if (result != 0 || telephony == NULL) return result;
    free(guest->values);
    guest->values = read_telephony(answer, telephony);
    return guest->values != NULL ? 0 : -ENOMEM;
}

int svcguest_telephony_unsubscribe(struct svcguest* guest) {
    return svcguest_call(guest, "telephony.unsubscribe", NULL, NULL);
}

/* The request has `number`, and `message` unless that is NULL; `*id` is the member `name` of the answer. */
static int send_to_number(struct svcguest* guest, const char* op, const char* number, const char* message,
                          const char* name, int64_t* id) {
    struct text_buffer request;
    struct json_text answer;
    int64_t own = 0;
    request_begin(guest, &request, op);
    text_append(&request, ",\"number\":", 10);
    text_string(&request, number);
    if (message != NULL) text_append(&request, ",\"message\":", 11);
    if (message != NULL) text_string(&request, message);
    const int result = request_finish(guest, &request, &answer);
    if (result != 0) return result;
    return json_to_int64(json_member(answer, name), id != NULL ? id : &own) ? 0 : -EPROTO;
}

static int ask_of(struct svcguest* guest, const char* op, const char* name, int64_t id) {
    struct text_buffer request;
    struct json_text answer;
    request_begin(guest, &request, op);
    text_format(&request, ",\"%s\":%lld", name, (long long)id);
    return request_finish(guest, &request, &answer);
}

int svcguest_telephony_dial(struct svcguest* guest, const char* number, int64_t* call) {
    return send_to_number(guest, "telephony.dial", number, NULL, "call", call);
}

int svcguest_telephony_answer(struct svcguest* guest, int64_t call) {
    return ask_of(guest, "telephony.answer", "call", call);
}

int svcguest_telephony_hold(struct svcguest* guest, int64_t call) {
    return ask_of(guest, "telephony.hold", "call", call);
}

int svcguest_telephony_hang_up(struct svcguest* guest, int64_t call) {
    return ask_of(guest, "telephony.hang_up", "call", call);
}

int svcguest_telephony_send_sms(struct svcguest* guest, const char* number, const char* message,
                                int64_t* sms) {
    return send_to_number(guest, "telephony.send_sms", number, message, "sms", sms);
}

int svcguest_telephony_take_sms(struct svcguest* guest, int64_t sms) {
    return ask_of(guest, "telephony.take_sms", "sms", sms);
}
