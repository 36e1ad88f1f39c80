/* Internal: ioctl() of a gamepad. */
#ifndef SVCGAMEPAD_QUESTIONS_H
#define SVCGAMEPAD_QUESTIONS_H

#include <stdbool.h>

bool is_question(unsigned long request); /* to a device of evdev */
/* As ioctl(): -1 and errno, or what the kernel returns. */
int answer(int fd, int pad, unsigned long request, void* argument);

#endif
