#include "json_reader.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 64
#define MAX_NUMBER 64

static const struct json_text none = {NULL, NULL};

static const char* skip_space(const char* at, const char* end) {
    while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')) ++at;
    return at;
}

/* `at` is behind the opening quote. The closing one, or NULL. */
static const char* string_end(const char* at, const char* end) {
    for (; at < end; ++at) {
        if (*at == '"') return at;
        if (*at == '\\' && ++at == end) return NULL;
    }
    return NULL;
}

static bool ends_scalar(char c) {
    return c == ',' || c == ']' || c == '}' || c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* A string or a word; NULL when there is none. */
static const char* skip_scalar(const char* at, const char* end) {
    if (*at == '"') {
        at = string_end(at + 1, end);
        return at != NULL ? at + 1 : NULL;
    }
    const char* begin = at;
    while (at < end && !ends_scalar(*at) && *at != '"' && *at != ':' && *at != '[' && *at != '{') ++at;
    return at > begin ? at : NULL;
}

/* Brackets must match; what is between them is looked at when it is wanted. */
static const char* skip_value(const char* at, const char* end) {
    char closing[MAX_DEPTH];
    size_t depth = 0;
    do {
        at = skip_space(at, end);
        if (at == end) return NULL;
        if (*at == '{' || *at == '[') {
            if (depth == MAX_DEPTH) return NULL;
            closing[depth++] = *at++ == '{' ? '}' : ']';
        } else if (*at == '}' || *at == ']') {
            if (depth == 0 || closing[--depth] != *at++) return NULL;
        } else if (depth > 0 && (*at == ',' || *at == ':')) {
            ++at;
        } else if ((at = skip_scalar(at, end)) == NULL) {
            return NULL;
        }
    } while (depth > 0);
    return at;
}

struct json_text json_value(const char* at, const char* end) {
    at = skip_space(at, end);
    const char* behind = skip_value(at, end);
    return behind != NULL ? (struct json_text){at, behind} : none;
}

/* The string at `at`, with its quotes, followed by a colon; moves `at` behind that. */
static struct json_text take_key(const char** at, const char* end) {
    const char* begin = skip_space(*at, end);
    if (begin == end || *begin != '"') return none;
    const char* quote = string_end(begin + 1, end);
    if (quote == NULL) return none;
    const char* colon = skip_space(quote + 1, end);
    if (colon == end || *colon != ':') return none;
    *at = colon + 1;
    return (struct json_text){begin, quote + 1};
}

struct json_text json_member(struct json_text object, const char* name) {
    if (object.at == NULL || object.at == object.end || *object.at != '{') return none;
    const char* at = object.at + 1;
    for (;;) {
        const struct json_text key = take_key(&at, object.end);
        if (key.at == NULL) return none;
        const struct json_text value = json_value(at, object.end);
        if (value.at == NULL) return none;
        if (json_equals(key, name)) return value;
        at = skip_space(value.end, object.end);
        if (at == object.end || *at++ != ',') return none;
    }
}

struct json_text json_next_item(struct json_text array, const char** cursor) {
    if (array.at == NULL || array.at == array.end || *array.at != '[') return none;
    const char* at = skip_space(*cursor != NULL ? *cursor : array.at + 1, array.end);
    if (*cursor != NULL && (at == array.end || *at++ != ',')) return none;
    const struct json_text value = json_value(at, array.end);
    if (value.at != NULL) *cursor = value.end;
    return value;
}

static bool looks_like_number(struct json_text value) {
    if (value.at == NULL || value.at == value.end || value.end - value.at >= MAX_NUMBER) return false;
    for (const char* at = value.at; at < value.end; ++at)
        if (strchr("+-.eE0123456789", *at) == NULL || *at == '\0') return false;
    return *value.at == '-' || (*value.at >= '0' && *value.at <= '9');
}

/* strtod() wants the point of the program's locale. */
bool json_to_double(struct json_text value, double* out) {
    if (!looks_like_number(value)) return false;
    char text[MAX_NUMBER];
    const size_t size = (size_t)(value.end - value.at);
    memcpy(text, value.at, size);
    text[size] = '\0';
    char* point = strchr(text, '.');
    if (point != NULL) *point = *localeconv()->decimal_point;
    char* end = NULL;
    *out = strtod(text, &end);
    return end == text + size;
}

bool json_to_int64(struct json_text value, int64_t* out) {
    if (!looks_like_number(value)) return false;
    const char* at = value.at;
    const bool negative = *at == '-';
    if (negative) ++at;
    if (at == value.end) return false;
    const uint64_t most = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    uint64_t sum = 0;
    for (; at < value.end; ++at) {
        if (*at < '0' || *at > '9') return false;
        const uint64_t digit = (uint64_t)(*at - '0');
        if (sum > (most - digit) / 10) return false;
        sum = sum * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

bool json_to_bool(struct json_text value, bool* out) {
    if (value.at == NULL) return false;
    const size_t size = (size_t)(value.end - value.at);
    *out = size == 4 && memcmp(value.at, "true", 4) == 0;
    return *out || (size == 5 && memcmp(value.at, "false", 5) == 0);
}

bool json_equals(struct json_text value, const char* text) {
    if (value.at == NULL || value.end - value.at < 2 || *value.at != '"') return false;
    const size_t size = (size_t)(value.end - value.at) - 2;
    return strlen(text) == size && memcmp(value.at + 1, text, size) == 0;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits of a \u escape; -1 when they are not there. */
static long take_hex(const char** at, const char* end) {
    if (end - *at < 4) return -1;
    long code = 0;
    for (int i = 0; i < 4; ++i) {
        const int digit = hex_digit(*(*at)++);
        if (digit < 0) return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* Behind "\u": one code point, of two escapes where they are surrogates. -1: none. */
static long take_code_point(const char** at, const char* end) {
    const long high = take_hex(at, end);
    if (high <= 0 || (high >= 0xdc00 && high <= 0xdfff)) return -1;
    if (high < 0xd800 || high > 0xdbff) return high;
    if (end - *at < 2 || (*at)[0] != '\\' || (*at)[1] != 'u') return -1;
    *at += 2;
    const long low = take_hex(at, end);
    if (low < 0xdc00 || low > 0xdfff) return -1;
    return 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
}

static size_t encode_utf8(long code, char out[4]) {
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    const size_t size = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = size - 1; i > 0; --i, code >>= 6) out[i] = (char)(0x80 | (code & 0x3f));
    static const int lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    out[0] = (char)(lead[size] | code);
    return size;
}

/* One character, behind a backslash or as it is; 0 on failure. */
static size_t take_character(const char** at, const char* end, char out[4]) {
    if (**at != '\\') {
        out[0] = *(*at)++;
        return out[0] != '\0';
    }
    if (end - *at < 2) return 0;
    const char c = (*at)[1];
    *at += 2;
    if (c == 'u') {
        const long code = take_code_point(at, end);
        return code > 0 ? encode_utf8(code, out) : 0;
    }
    static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    const char* name = c != '\0' ? strchr(names, c) : NULL;
    if (name == NULL) return 0;
    out[0] = meant[name - names];
    return 1;
}

bool json_to_string(struct json_text value, char* out, size_t size) {
    if (value.at == NULL || value.end - value.at < 2 || *value.at != '"') return false;
    const char *at = value.at + 1, *end = value.end - 1;
    size_t used = 0;
    while (at < end) {
        char character[4];
        const size_t bytes = take_character(&at, end, character);
        if (bytes == 0 || used + bytes >= size) return false;
        memcpy(out + used, character, bytes);
        used += bytes;
    }
    if (used >= size) return false;
    out[used] = '\0';
    return true;
}
