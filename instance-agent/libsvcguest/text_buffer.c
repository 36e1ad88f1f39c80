#include "text_buffer.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_append(struct text_buffer* buffer, const char* data, size_t size) {
    if (buffer->error != 0) return;
    if (buffer->room - buffer->size < size) {
        const size_t room = (buffer->size + size) * 2 + 256;
        char* grown = realloc(buffer->data, room);
        if (grown == NULL) {
            buffer->error = -ENOMEM;
            return;
        }
        buffer->data = grown;
        buffer->room = room;
    }
    if (size > 0) memcpy(buffer->data + buffer->size, data, size);
    buffer->size += size;
}

void text_format(struct text_buffer* buffer, const char* format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof(text))
        buffer->error = -EINVAL;
    else
        text_append(buffer, text, (size_t)size);
}

/* printf() writes the point of the program's locale. */
void text_number(struct text_buffer* buffer, double value) {
    char text[64];
    if (!isfinite(value)) buffer->error = -EINVAL;
    const int size = snprintf(text, sizeof(text), "%.17g", value);
    char* point = strchr(text, *localeconv()->decimal_point);
    if (point != NULL) *point = '.';
    text_append(buffer, text, (size_t)size);
}

void text_string(struct text_buffer* buffer, const char* text) {
    text_append(buffer, "\"", 1);
    for (; *text != '\0'; ++text) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            text_format(buffer, "\\%c", c);
        else if (c < 0x20)
            text_format(buffer, "\\u%04x", c);
        else
            text_append(buffer, text, 1);
    }
    text_append(buffer, "\"", 1);
}

void text_free(struct text_buffer* buffer) {
    free(buffer->data);
    memset(buffer, 0, sizeof(*buffer));
}
