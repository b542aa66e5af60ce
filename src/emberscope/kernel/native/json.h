/* JSON that is taken or left: strict, and only as much of it as Spark's own writer gives.
 *
 * Every function takes the position of a value and gives back the one after it, or NULL where what stands there is
 * damaged or only unusual: spaces, numbers with exponents, lone surrogates, deep nesting. Whatever is accepted is JSON
 * that any reader accepts. The byte at `end` can be read and is 0, which is part of no value.
 */
#ifndef EMBERSCOPE_JSON_H
#define EMBERSCOPE_JSON_H

#include "bytes.h"

#define JSON_DEPTH 32
#define JSON_DIGITS 40 /* of a number that is only skipped: far from what a double cannot hold */

ALWAYS_INLINE bool is_digit(uint8_t byte) { return (uint8_t)(byte - '0') < 10; }

static inline bool is_hexadecimal(uint8_t byte) { return is_digit(byte) || (uint8_t)((byte | 0x20) - 'a') < 6; }

/* Whether `length` bytes at p are those. Eight at a time: keys are longer than that, mostly. */
ALWAYS_INLINE bool is_same(const uint8_t *p, const uint8_t *end, const uint8_t *text, size_t length) {
    if ((size_t)(end - p) < length) return false;
    if (length < 8) {
        for (size_t i = 0; i < length; i++) {
            if (p[i] != text[i]) return false;
        }
        return true;
    }
    uint64_t other = little64(p + length - 8) ^ little64(text + length - 8);
    for (size_t i = 0; i + 8 < length; i += 8) other |= little64(p + i) ^ little64(text + i);
    return !other;
}

/* Past an escape; p is at its backslash. */
static inline const uint8_t *json_escape(const uint8_t *p, const uint8_t *end) {
    if (p[1] && memchr("\"\\/bfnrt", p[1], 8)) return p + 2;
    if (p[1] != 'u' || end - p < 6) return NULL;
    for (int i = 2; i < 6; i++) {
        if (!is_hexadecimal(p[i])) return NULL;
    }
    bool is_surrogate = (p[2] | 0x20) == 'd' && !(p[3] >= '0' && p[3] <= '7');
    return is_surrogate ? NULL : p + 6;
}

/* To the first byte that is a quote, a backslash or a control character; p is within a string. */
ALWAYS_INLINE const uint8_t *json_plain(const uint8_t *p, const uint8_t *end) {
#if defined(__SSE2__)
    while (LIKELY(end - p >= 16)) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
        __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i backslash = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, backslash), control));
        if (found) return p + lowest_bit(found);
        p += 16;
    }
#endif
    while (p < end && *p != '"' && *p != '\\' && *p >= 0x20) p++;
    return p;
}

/* Past the closing quote; p is after the opening one. */
ALWAYS_INLINE const uint8_t *json_string(const uint8_t *p, const uint8_t *end) {
    for (;;) {
        p = json_plain(p, end);
        if (LIKELY(*p == '"')) return p + 1;
        if (*p != '\\') return NULL;
        p = json_escape(p, end);
        if (!p) return NULL;
    }
}

/* Past a number without an exponent; p is at its first byte, a digit or a minus. */
ALWAYS_INLINE const uint8_t *json_number(const uint8_t *p) {
    const uint8_t *start = p;
    if (*p == '-') p++;
    if (*p == '0') {
        p++;
    } else {
        if (!is_digit(*p)) return NULL;
        while (is_digit(*p)) p++;
    }
    if (is_digit(*p)) return NULL;
    if (*p == '.') {
        p++;
        if (!is_digit(*p)) return NULL;
        while (is_digit(*p)) p++;
    }
    return (*p | 0x20) == 'e' || p - start > JSON_DIGITS ? NULL : p;
}

/* An integer of at most 18 digits, and nothing else. */
ALWAYS_INLINE const uint8_t *json_integer(const uint8_t *p, int64_t *value) {
    bool negative = *p == '-';
    p += negative;
    const uint8_t *first = p;
    uint64_t sum = 0;
    while (is_digit(*p) && p - first < 18) sum = sum * 10 + (uint64_t)(*p++ - '0');
    bool is_strange = p == first || is_digit(*p) || (*first == '0' && (p - first > 1 || negative));
    if (is_strange || *p == '.' || (*p | 0x20) == 'e') return NULL;
    *value = negative ? -(int64_t)sum : (int64_t)sum;
    return p;
}

static const uint8_t *json_value(const uint8_t *p, const uint8_t *end, int depth);

static const uint8_t *json_object(const uint8_t *p, const uint8_t *end, int depth) {
    if (*p == '}') return p + 1;
    for (;;) {
        if (*p != '"') return NULL;
        p = json_string(p + 1, end);
        if (!p || *p != ':') return NULL;
        p = json_value(p + 1, end, depth);
        if (!p) return NULL;
        if (*p == '}') return p + 1;
        if (*p++ != ',') return NULL;
    }
}

static const uint8_t *json_array(const uint8_t *p, const uint8_t *end, int depth) {
    if (*p == ']') return p + 1;
    for (;;) {
        p = json_value(p, end, depth);
        if (!p) return NULL;
        if (*p == ']') return p + 1;
        if (*p++ != ',') return NULL;
    }
}

/* Past any value. */
static const uint8_t *json_value(const uint8_t *p, const uint8_t *end, int depth) {
    if (is_digit(*p) || *p == '-') return json_number(p);
    switch (*p) {
        case '"':
            return json_string(p + 1, end);
        case '{':
            return depth ? json_object(p + 1, end, depth - 1) : NULL;
        case '[':
            return depth ? json_array(p + 1, end, depth - 1) : NULL;
        case 't':
            return is_same(p, end, (const uint8_t *)"true", 4) ? p + 4 : NULL;
        case 'f':
            return is_same(p, end, (const uint8_t *)"false", 5) ? p + 5 : NULL;
        case 'n':
            return is_same(p, end, (const uint8_t *)"null", 4) ? p + 4 : NULL;
        default:
            return NULL;
    }
}

#endif
