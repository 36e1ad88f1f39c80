/* Reads JSON in place and allocates no memory: finds members and items, converts scalars to C values.
 * Malformed values count as absent; nothing beyond the text is read.
 * docs/decisions/0013-json-in-libsvcguest.md says why no library does this. */
#ifndef SVCGUEST_JSON_READER_H
#define SVCGUEST_JSON_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "names.h"

struct json_text {
    const char *at, *end; /* one value; at == NULL: no value */
};

/* The first value of a text. */
struct json_text json_value(const char* at, const char* end);
/* The member of an object with this name; no value when it is absent or `object` is no object. */
struct json_text json_member(struct json_text object, const char* name);
/* The next item of an array; no value after the last one. `*cursor` is NULL before the first call. */
struct json_text json_next_item(struct json_text array, const char** cursor);

bool json_to_double(struct json_text value, double* out);
bool json_to_int64(struct json_text value, int64_t* out); /* only a number without fraction and exponent */
bool json_to_bool(struct json_text value, bool* out);
/* Copies the unescaped string with a NUL at its end. False: not a string, too long, or an escaped NUL in it.
 */
bool json_to_string(struct json_text value, char* out, size_t size);
bool json_equals(struct json_text value, const char* text); /* compares with a string without escapes */

#endif
