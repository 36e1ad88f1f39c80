// A raw binder program: "binder-probe serve NAME" is the context manager of its guest, with the user id of
// Android's ("system"), and answers every transaction with NAME; "binder-probe call" prints that answer, or
// why there is none; "binder-probe steal" tries to be the context manager as the guest's root. /dev/binder
// alone, no library. "binder-probe claim USER DEVICE" does what svcd does with its devices, as another user.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/android/binder.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAP_BYTES (64 * 1024)
#define SYSTEM_ID 1000

static int fail(const char* what) {
    printf("%s: %s\n", what, strerror(errno));
    return 1;
}

static int open_binder(void) {
    const int fd = open("/dev/binder", O_RDWR | O_CLOEXEC);
    if (fd < 0) return -1;
    return mmap(NULL, MAP_BYTES, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ? -1 : fd;
}

struct Commands {
    uint8_t bytes[256];
    size_t used;
};

static void add(struct Commands* commands, uint32_t command, const void* data, size_t size) {
    memcpy(commands->bytes + commands->used, &command, sizeof command);
    if (size > 0) memcpy(commands->bytes + commands->used + sizeof command, data, size);
    commands->used += sizeof command + size;
}

// Sends the commands and takes what there is to read; the number of bytes, or -1.
static ssize_t exchange(int fd, struct Commands* commands, uint8_t* answer, size_t room) {
    struct binder_write_read both = {0};
    both.write_buffer = (uintptr_t)commands->bytes;
    both.write_size = commands->used;
    both.read_buffer = (uintptr_t)answer;
    both.read_size = room;
    if (ioctl(fd, BINDER_WRITE_READ, &both) < 0) return -1;
    commands->used = 0;
    return (ssize_t)both.read_consumed;
}

static void answer_call(struct Commands* commands, const struct binder_transaction_data* call,
                        const char* name) {
    struct binder_transaction_data reply = {0};
    reply.data_size = strlen(name) + 1;
    reply.data.ptr.buffer = (uintptr_t)name;
    const binder_uintptr_t done = call->data.ptr.buffer;
    add(commands, BC_FREE_BUFFER, &done, sizeof done);
    add(commands, BC_REPLY, &reply, sizeof reply);
}

static int serve(int fd, const char* name) {
    if (ioctl(fd, BINDER_SET_CONTEXT_MGR, 0) < 0) return fail("no context manager");
    puts("context manager");
    fflush(stdout);
    struct Commands commands = {{0}, 0};
    add(&commands, BC_ENTER_LOOPER, NULL, 0);
    for (;;) {
        uint8_t answer[1024];
        const ssize_t size = exchange(fd, &commands, answer, sizeof answer);
        if (size < 0) return fail("exchange");
        for (ssize_t at = 0; at < size;) {
            uint32_t what = 0;
            memcpy(&what, answer + at, sizeof what);
            at += (ssize_t)sizeof what;
            if (what == BR_TRANSACTION) {
                struct binder_transaction_data call;
                memcpy(&call, answer + at, sizeof call);
                answer_call(&commands, &call, name);
            }
            at += _IOC_SIZE(what);
        }
    }
}

// As an effective user; the claim lasts longer than the descriptor.
static int claim(unsigned user, const char* device) {
    const int fd = open(device, O_RDWR | O_CLOEXEC);
    if (fd < 0) return fail(device);
    if (setresuid(-1, user, 0) != 0 || ioctl(fd, BINDER_SET_CONTEXT_MGR, 0) < 0)
        return fail("no context manager");
    return puts("context manager"), 0;
}

static int call(int fd) {
    struct binder_transaction_data question = {0};
    const char text[] = "who";
    question.data_size = sizeof text;
    question.data.ptr.buffer = (uintptr_t)text;
    struct Commands commands = {{0}, 0};
    add(&commands, BC_TRANSACTION, &question, sizeof question);
    for (;;) {
        uint8_t answer[1024];
        const ssize_t size = exchange(fd, &commands, answer, sizeof answer);
        if (size < 0) return fail("exchange");
        for (ssize_t at = 0; at < size;) {
            uint32_t what = 0;
            memcpy(&what, answer + at, sizeof what);
            at += (ssize_t)sizeof what;
            if (what == BR_DEAD_REPLY) return puts("nobody answers"), 1;
            if (what == BR_FAILED_REPLY) return puts("refused"), 1;
            if (what == BR_REPLY) {
                struct binder_transaction_data reply;
                memcpy(&reply, answer + at, sizeof reply);
                return printf("answer of %s\n", (const char*)(uintptr_t)reply.data.ptr.buffer), 0;
            }
            at += _IOC_SIZE(what);
        }
    }
}

int main(int argc, char** argv) {
    const int serves = argc == 3 && strcmp(argv[1], "serve") == 0;
    if (serves && (setgid(SYSTEM_ID) != 0 || setuid(SYSTEM_ID) != 0)) return fail("user id");
    if (argc == 2 && strcmp(argv[1], "steal") == 0) return claim(0, "/dev/binder");
    if (argc == 4 && strcmp(argv[1], "claim") == 0) return claim((unsigned)atoi(argv[2]), argv[3]);
    const int fd = open_binder();
    if (fd < 0) return fail("/dev/binder");
    if (serves) return serve(fd, argv[2]);
    if (argc == 2 && strcmp(argv[1], "call") == 0) return call(fd);
    fputs("usage: binder-probe serve NAME | call | steal | claim USER DEVICE\n", stderr);
    return 2;
}
