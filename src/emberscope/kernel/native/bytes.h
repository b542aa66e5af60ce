/* Reading of single values. Written once, for all the rest: whatever takes bytes from a file goes through here.
 *
 * Every function takes the position and an end, and gives back the position after the value, or NULL where the value
 * does not lie before the end. Integers come as unsigned ones: cutting them to a width and a sign is then defined.
 */
#ifndef EMBERSCOPE_BYTES_H
#define EMBERSCOPE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__GNUC__)
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ALWAYS_INLINE static inline __attribute__((always_inline))
#else
#define LIKELY(x) (x)
#define UNLIKELY(x) (x)
#define ALWAYS_INLINE static inline
#endif

#define VARINT_BYTES 9
#define STOP_BITS UINT64_C(0x8080808080808080)

ALWAYS_INLINE uint64_t little64(const uint8_t *p) {
    uint64_t word;
    memcpy(&word, p, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

ALWAYS_INLINE unsigned lowest_bit(uint64_t word) {
#if defined(__GNUC__)
    return (unsigned)__builtin_ctzll(word);
#else
    unsigned n = 0;
    while (!(word >> n & 1)) n++;
    return n;
#endif
}

ALWAYS_INLINE unsigned highest_bit(uint64_t word) {
#if defined(__GNUC__)
    return 63u - (unsigned)__builtin_clzll(word);
#else
    unsigned n = 63;
    while (!(word >> n & 1)) n--;
    return n;
#endif
}

/* How many integers end within a word. */
ALWAYS_INLINE uint64_t stop_count(uint64_t stops) { return (stops >> 7) * UINT64_C(0x0101010101010101) >> 56; }

/* A bit for each byte of a window that is the last one of an integer. */
#define WINDOW 16
ALWAYS_INLINE uint32_t window_stops(const uint8_t *p) {
#if defined(__SSE2__)
    return ~(uint32_t)_mm_movemask_epi8(_mm_loadu_si128((const __m128i *)(const void *)p)) & 0xffff;
#else
    uint64_t low = ~little64(p) & STOP_BITS, high = ~little64(p + 8) & STOP_BITS;
    const uint64_t gather = UINT64_C(0x0102040810204080); /* puts the lowest bits of eight bytes side by side */
    return (uint32_t)((low >> 7) * gather >> 56) | (uint32_t)((high >> 7) * gather >> 56) << 8;
#endif
}

/* Whether eight bytes in a row go on: then an integer of nine bytes is among them, of which the last says nothing. */
ALWAYS_INLINE bool has_long_integer(uint32_t stops) {
    uint32_t on = ~stops & 0xffff;
    on &= on >> 1;
    on &= on >> 2;
    return on & on >> 4;
}

/* Eight groups of seven bits, one in each byte, moved together. */
ALWAYS_INLINE uint64_t without_stop_bits(uint64_t x) {
    x = (x & UINT64_C(0x007f007f007f007f)) | (x & UINT64_C(0x7f007f007f007f00)) >> 1;
    x = (x & UINT64_C(0x00003fff00003fff)) | (x & UINT64_C(0x3fff00003fff0000)) >> 2;
    return (x & UINT64_C(0x000000000fffffff)) | (x & UINT64_C(0x0fffffff00000000)) >> 4;
}

/* A compressed integer near the end of the data, byte by byte. */
static inline const uint8_t *varint_at_end(const uint8_t *p, const uint8_t *end, uint64_t *value) {
    uint64_t sum = 0;
    for (unsigned shift = 0; p < end; shift += 7) {
        uint64_t byte = *p++;
        if (shift == 56) {
            *value = sum | byte << 56;
            return p;
        }
        sum |= (byte & 0x7f) << shift;
        if (byte < 0x80) {
            *value = sum;
            return p;
        }
    }
    return NULL;
}

/* A compressed integer: 7 bits a byte, lowest first; a ninth byte is the last and gives all its 8 bits.
 *
 * Its bytes are looked at together: lengths follow no pattern that a processor could foresee. */
ALWAYS_INLINE const uint8_t *varint(const uint8_t *p, const uint8_t *end, uint64_t *value) {
    if (UNLIKELY(end - p < VARINT_BYTES)) return varint_at_end(p, end, value);
    uint64_t word = little64(p);
    uint64_t stops = ~word & STOP_BITS;
    if (UNLIKELY(!stops)) {
        *value = without_stop_bits(word) | (uint64_t)p[8] << 56;
        return p + VARINT_BYTES;
    }
    unsigned last = lowest_bit(stops);
    *value = without_stop_bits(word & UINT64_MAX >> (63 - last));
    return p + (last >> 3) + 1;
}

/* The same for values that mostly have one byte. */
ALWAYS_INLINE const uint8_t *small_varint(const uint8_t *p, const uint8_t *end, uint64_t *value) {
    if (LIKELY(p < end && *p < 0x80)) {
        *value = *p;
        return p + 1;
    }
    return varint(p, end, value);
}

/* Past `count` compressed integers. None is begun at or after `limit`, so that a wrong count costs no more than the
 * record is long; what lies before `end` may be looked at. */
ALWAYS_INLINE const uint8_t *skip_varints(const uint8_t *p, const uint8_t *limit, const uint8_t *end, uint64_t count) {
    while (count) {
        if (p >= limit) return NULL;
        if (UNLIKELY(end - p < VARINT_BYTES)) {
            uint64_t ignored;
            p = varint_at_end(p, end, &ignored);
            if (!p) return NULL;
            count--;
            continue;
        }
        uint64_t stops = ~little64(p) & STOP_BITS;
        if (UNLIKELY(!stops)) {
            p += VARINT_BYTES;
            count--;
            continue;
        }
        uint64_t whole = stop_count(stops);
        if (whole >= count) {
            while (--count) stops &= stops - 1;
            return p + (lowest_bit(stops) >> 3) + 1;
        }
        count -= whole;
        p += (highest_bit(stops) >> 3) + 1;
    }
    return p;
}

ALWAYS_INLINE uint16_t big16(const uint8_t *p) { return (uint16_t)(p[0] << 8 | p[1]); }

ALWAYS_INLINE uint32_t big32(const uint8_t *p) {
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

ALWAYS_INLINE uint64_t big64(const uint8_t *p) { return (uint64_t)big32(p) << 32 | big32(p + 4); }

/* A `long` of a chunk: compressed, or 8 bytes big-endian. */
ALWAYS_INLINE const uint8_t *read_long(const uint8_t *p, const uint8_t *end, bool compressed, int64_t *value) {
    uint64_t bits;
    if (compressed) {
        p = small_varint(p, end, &bits);
    } else {
        if (end - p < 8) return NULL;
        bits = big64(p);
        p += 8;
    }
    if (p) *value = (int64_t)bits;
    return p;
}

/* An `int` of a chunk: compressed and cut to 32 bits, or 4 bytes big-endian. */
ALWAYS_INLINE const uint8_t *read_int(const uint8_t *p, const uint8_t *end, bool compressed, int32_t *value) {
    if (compressed) {
        uint64_t bits;
        p = small_varint(p, end, &bits);
        if (p) *value = (int32_t)(uint32_t)bits;
        return p;
    }
    if (end - p < 4) return NULL;
    *value = (int32_t)big32(p);
    return p + 4;
}

/* A `char` of a chunk, a unit of UTF-16. */
ALWAYS_INLINE const uint8_t *read_char(const uint8_t *p, const uint8_t *end, bool compressed, uint16_t *value) {
    if (compressed) {
        uint64_t bits;
        p = small_varint(p, end, &bits);
        if (p) *value = (uint16_t)bits;
        return p;
    }
    if (end - p < 2) return NULL;
    *value = big16(p);
    return p + 2;
}

#endif
