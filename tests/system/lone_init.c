// An init that has no other process and writes what it knows when it is asked to end, after it has slept: as
// busybox's init it names itself "init" and is in the same system call, but it is not done. usage: PROGRAM
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void write_file(const char* path) {
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file < 0 || write(file, "saved\n", 6) != 6) _exit(9);
    close(file);
}

int main(int argc, char** argv) {
    (void)argc;
    strncpy(argv[0], "init", strlen(argv[0]));
    sigset_t asked;
    sigemptyset(&asked);
    sigaddset(&asked, SIGUSR2);
    sigaddset(&asked, SIGRTMIN + 3);
    sigprocmask(SIG_BLOCK, &asked, NULL);
    write_file("/ready");
    int number = 0;
    sigwait(&asked, &number);
    const struct timespec pause = {0, 700000000};
    nanosleep(&pause, NULL);
    write_file("/saved");
    return 5;
}
