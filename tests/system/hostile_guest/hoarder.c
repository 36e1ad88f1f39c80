/* Runs inside an instance, linked statically: takes as much of one kind of thing as it can get, prints how
   many it got, and holds them until its standard input ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static char name[4096];

static int take_instance(long number) {
    return inotify_init1(IN_NONBLOCK) >= 0 || number < 0;
}

static int take_watch(long number) {
    static int instance = -1;
    if (number == 0) {
        instance = inotify_init1(IN_NONBLOCK);
        mount("tmpfs", "/tmp/watched", "tmpfs", 0, "nr_inodes=0");
    }
    snprintf(name, sizeof name, "/tmp/watched/%ld", number);
    return mkdir(name, 0700) == 0 && inotify_add_watch(instance, name, IN_MODIFY) >= 0;
}

static int take_key(long number) {
    snprintf(name, sizeof name, "key%ld", number);
    return syscall(SYS_add_key, "user", name, "x", 1L, -1 /* of the thread */) >= 0;
}

static int take_namespaces(int flags) {
    const pid_t child = fork();
    if (child < 0) return 0;
    if (child == 0) {
        if (unshare(flags) != 0) _exit(1);
        raise(SIGSTOP);
        pause();
    }
    int status = 0;
    return waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status);
}

static int take_user_namespace(long number) {
    return number >= 0 && take_namespaces(CLONE_NEWUSER);
}

static int take_name_namespace(long number) {
    if (unshare(CLONE_NEWUTS) != 0) return 0;
    return open("/proc/self/ns/uts", O_RDONLY) >= 0 || number < 0;
}

static int take_terminal(long number) {
    if (number == 0) {
        mkdir("/tmp/pts", 0700);
        if (mount("devpts", "/tmp/pts", "devpts", 0, "newinstance,ptmxmode=0666") != 0) return 0;
    }
    return open("/tmp/pts/ptmx", O_RDWR | O_NOCTTY) >= 0;
}

static int take_queue(long number) {
    snprintf(name, sizeof name, "/queue%ld", number);
    return mq_open(name, O_CREAT | O_RDWR, 0600, NULL) >= 0;
}

static int take_segment(long number) {
    const int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    void* const at = id < 0 ? (void*)-1 : shmat(id, NULL, 0);
    if (at == (void*)-1) return 0;
    *(volatile char*)at = (char)number;
    return 1;
}

static int take_pipe(long number) {
    int ends[2];
    if (pipe2(ends, O_NONBLOCK) != 0) return 0;
    return fcntl(ends[1], F_SETPIPE_SZ, 1 << 20) == 1 << 20 || number < 0;
}

static int take_locked(long number) {
    void* const at = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return at != MAP_FAILED && mlock(at, 65536) == 0 && number >= 0;
}

static int take_signal(long number) {
    if (number == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
    }
    const union sigval value = {.sival_int = (int)number};
    return sigqueue(getpid(), SIGRTMIN + 1, value) == 0;
}

static int take_process(long number) {
    const pid_t child = fork();
    if (child == 0)
        for (;;) pause();
    return child > 0 && number >= 0;
}

static int take_file(long number) {
    snprintf(name, sizeof name, "/srv/bomb/%ld", number);
    const int file = open(name, O_CREAT | O_WRONLY, 0600);
    if (file >= 0) close(file);
    return file >= 0;
}

static int take_group(long number) {
    const char* const top = getenv("GROUP");
    snprintf(name, sizeof name, "%s/bomb%ld", top ? top : "", number);
    return mkdir(name, 0700) == 0;
}

static const struct {
    const char* what;
    int (*take)(long number);
} kinds[] = {{"inotify", take_instance},
             {"watches", take_watch},
             {"keys", take_key},
             {"user-namespaces", take_user_namespace},
             {"uts-namespaces", take_name_namespace},
             {"terminals", take_terminal},
             {"queues", take_queue},
             {"segments", take_segment},
             {"pipes", take_pipe},
             {"locked", take_locked},
             {"signals", take_signal},
             {"processes", take_process},
             {"files", take_file},
             {"groups", take_group}};

int main(int count, char** arguments) {
    const long most = count > 2 ? atol(arguments[2]) : 1L << 30;
    mkdir("/tmp/watched", 0700);
    mkdir("/srv/bomb", 0700);
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
        if (count < 2 || strcmp(arguments[1], kinds[kind].what) != 0) continue;
        long got = 0;
        errno = 0;
        while (got < most && kinds[kind].take(got)) ++got;
        printf("%ld %s\n", got, got == most ? "enough" : strerror(errno));
        fflush(stdout);
        char byte;
        while (read(0, &byte, 1) > 0) continue;
        kill(0, SIGKILL);
        return 0;
    }
    fprintf(stderr, "usage: hoarder KIND [MOST]\n");
    return 2;
}
