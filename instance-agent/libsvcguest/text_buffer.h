/* A growing text for requests. The first error is kept in `error`; later calls do nothing. */
#ifndef SVCGUEST_TEXT_BUFFER_H
#define SVCGUEST_TEXT_BUFFER_H

#include <stddef.h>

#include "names.h"

struct text_buffer {
    char* data;
    size_t size, room;
    int error; /* 0, or the first error: -ENOMEM, -EINVAL */
};

void text_append(struct text_buffer* buffer, const char* data, size_t size);
void text_format(struct text_buffer* buffer, const char* format, ...) __attribute__((format(printf, 2, 3)));
void text_number(struct text_buffer* buffer,
                 double value); /* as JSON; -EINVAL for a number that is not finite */
void text_string(struct text_buffer* buffer, const char* text); /* quoted and escaped */
void text_free(struct text_buffer* buffer);

#endif
