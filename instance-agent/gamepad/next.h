/* Internal: the function that this library stands before. */
#ifndef SVCGAMEPAD_NEXT_H
#define SVCGAMEPAD_NEXT_H

#include <dlfcn.h>

/* dlsym() has moved from libdl to libc; the old version of its name is in both. */
#if defined(__x86_64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.2.5");
#elif defined(__aarch64__)
__asm__(".symver dlsym, dlsym@GLIBC_2.17");
#endif

/* Two threads may look a function up at once; both find the same one. */
#define NEXT(function)                                                 \
    ({                                                                 \
        static __typeof__(&function) found;                            \
        if (found == 0) *(void**)&found = dlsym(RTLD_NEXT, #function); \
        found;                                                         \
    })

#endif
