/* Reads JSON in place, without memory of its own: finds members and items, turns scalars into C values. What
 * is malformed is found absent; nothing is read beyond the text. */
#ifndef SVCGUEST_JSON_READER_H
#define SVCGUEST_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

struct json_text {
    const char *at, *end; /* one value; at == NULL: none */
};

/* The value at the beginning of a text, without what follows it. */
struct json_text json_value(const char* at, const char* end);
/* A member of an object by its name; none when absent, or not an object. */
struct json_text json_member(struct json_text object, const char* name);
/* The items of an array: `*cursor` is NULL before the first call. None after the last one. */
struct json_text json_next_item(struct json_text array, const char** cursor);

bool json_to_double(struct json_text value, double* out);
bool json_to_int64(struct json_text value, int64_t* out); /* without fraction or exponent */
bool json_to_bool(struct json_text value, bool* out);
/* Unescaped and with a NUL at its end, which escapes cannot make otherwise. False: no string, or too long. */
bool json_to_string(struct json_text value, char* out, size_t size);
bool json_equals(struct json_text value, const char* text); /* a string without escapes */

#endif
