/* A telephony service as a guest may have one: it is the instance's phone until the SIM is taken out.
 *
 *   modem-daemon SOCKET
 *
 * It answers each call, takes each message and sends it back to where it came from; at the message "call me"
 * it dials that number instead. What comes during a call of the library is handled when that has returned. */
#include <stdio.h>
#include <string.h>
#include <svcguest.h>

static struct svcguest* guest;
static bool sim_is_there = true;

static void check(int result, const char* what) {
    if (result == 0) return;
    fprintf(stderr, "modem-daemon: %s: %s\n", what,
            result == SVCGUEST_REFUSED ? svcguest_error(guest) : strerror(-result));
}

static void on_telephony(void* user, const struct svcguest_telephony* telephony) {
    (void)user;
    sim_is_there = strcmp(telephony->sim, "absent") != 0;
}

static void on_call(void* user, const struct svcguest_phone_call* call) {
    (void)user;
    if (call->is_incoming && strcmp(call->state, "ringing") == 0)
        check(svcguest_telephony_answer(guest, call->call), "cannot answer");
}

static void on_sms(void* user, const struct svcguest_sms* sms) {
    (void)user;
    check(svcguest_telephony_take_sms(guest, sms->sms), "cannot take a message");
    if (strcmp(sms->message, "call me") == 0)
        check(svcguest_telephony_dial(guest, sms->number, NULL), "cannot dial");
    else
        check(svcguest_telephony_send_sms(guest, sms->number, sms->message, NULL), "cannot send");
}

int main(int argc, char** argv) {
    const struct svcguest_handlers handlers = {
        .telephony = on_telephony, .phone_call = on_call, .sms = on_sms};
    struct svcguest_telephony now;
    int result = 0;
    if (argc != 2 || (guest = svcguest_connect(argv[1], "modem-daemon", &result)) == NULL) return 2;
    svcguest_set_timeout(guest, -1);
    svcguest_set_handlers(guest, &handlers, sizeof(handlers), NULL);
    result = svcguest_telephony_subscribe(guest, &now);
    check(result, "cannot subscribe");
    while (result >= 0 && sim_is_there) result = svcguest_dispatch(guest, -1);
    svcguest_close(guest);
    return result < 0 ? 1 : 0;
}
