/* Text that grows: for requests. Running out of memory is noted and shows at its end alone. */
#ifndef SVCGUEST_TEXT_BUFFER_H
#define SVCGUEST_TEXT_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

struct text_buffer {
    char* data;
    size_t size, room;
    bool failed;
};

void text_append(struct text_buffer* buffer, const char* data, size_t size);
void text_format(struct text_buffer* buffer, const char* format, ...) __attribute__((format(printf, 2, 3)));
void text_number(struct text_buffer* buffer, double value);     /* as JSON; what is none becomes 0 */
void text_string(struct text_buffer* buffer, const char* text); /* quoted and escaped */
void text_free(struct text_buffer* buffer);

#endif
