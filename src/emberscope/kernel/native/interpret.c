/* The interpreter of records: the innermost loop of all.
 *
 * A value that begins before the record's end may be read beyond it, never beyond the data; when the record is through
 * and its position is beyond its end, it is broken. That is the same as a test for each byte, for one test a value.
 */
#include "ops.h"
#include "record.h"

#include <stdlib.h>

typedef struct {
    const Bytes *bytes;
    const uint8_t *end; /* of the record */
} Frame;

static Status run(const Frame *frame, const Op *op, const Op *stop, int64_t row, const uint8_t **at);

/* A count of things of which each takes at least a byte. */
static const uint8_t *read_count(const Frame *frame, const uint8_t *p, int32_t *count) {
    p = read_int(p, frame->bytes->end, frame->bytes->compressed, count);
    return p && *count >= 0 && *count <= frame->end - p ? p : NULL;
}

static const uint8_t *read_string(const Frame *frame, const uint8_t *p, Text *text) {
    const Bytes *bytes = frame->bytes;
    memset(text, 0, sizeof *text);
    text->encoding = *p++;
    switch (text->encoding) {
    case 0:
    case 1:
        return p;
    case 2:
        return read_long(p, bytes->end, bytes->compressed, &text->at);
    case 3:
    case 5:
        p = read_count(frame, p, &text->length);
        if (!p) return NULL;
        text->at = p - bytes->data;
        return p + text->length;
    case 4:
        p = read_count(frame, p, &text->length);
        if (!p) return NULL;
        text->at = p - bytes->data;
        if (bytes->compressed) return skip_varints(p, frame->end, bytes->end, (uint64_t)text->length);
        return text->length <= (frame->end - p) / 2 ? p + 2 * (ptrdiff_t)text->length : NULL;
    default:
        return NULL;
    }
}

/* Stores a value in the width of its column. */
ALWAYS_INLINE void keep(const Op *op, int64_t row, uint64_t value) {
    if (op->code == KEEP_VARINT64) {
        ((uint64_t *)op->column->values)[row] = value;
    } else if (op->code == KEEP_VARINT32) {
        ((uint32_t *)op->column->values)[row] = (uint32_t)value;
    } else {
        ((uint16_t *)op->column->values)[row] = (uint16_t)value;
    }
}

/* An element whose integers all end within the next WINDOW bytes; NULL for any other. The frames of stack traces are
 * nearly all such. Where an integer ends is taken from one look at all their bytes: the way from one element to the
 * next is then as long as one such look, not as one for each integer. */
ALWAYS_INLINE const uint8_t *run_window(const Op *op, const Op *stop, int64_t row, const uint8_t *p) {
    uint32_t stops = window_stops(p);
    unsigned at = 0;
    if (UNLIKELY(has_long_integer(stops))) return NULL;
    for (; op < stop; op++) {
        if (op->code == SKIP_VARINTS) {
            for (int32_t i = 1; i < op->many; i++) stops &= stops - 1;
            if (UNLIKELY(!stops)) return NULL;
            at = lowest_bit(stops) + 1;
        } else {
            if (UNLIKELY(!stops)) return NULL;
            unsigned bits = 8 * (lowest_bit(stops) + 1 - at);
            keep(op, row, without_stop_bits(little64(p + at) & UINT64_MAX >> (64 - bits)));
            at = lowest_bit(stops) + 1;
        }
        stops &= stops - 1;
    }
    return p + at;
}

/* Elements that are compressed integers only. */
static Status run_plain(const Frame *frame, const Op *op, const Op *stop, Group *group, int32_t count,
                        const uint8_t **at) {
    const uint8_t *p = *at, *end = frame->end, *data_end = frame->bytes->end;
    if (op->code == SKIP_VARINTS && op + 1 == stop) {
        *at = skip_varints(p, end, data_end, (uint64_t)count * (uint64_t)op->many);
        return *at ? GOOD : BROKEN;
    }
    uint64_t value = 0;
    for (int64_t row = group->count, last = row + count; row < last; row++) {
        if (UNLIKELY(p >= end)) return BROKEN;
        if (LIKELY(data_end - p >= WINDOW + 8)) {
            const uint8_t *after = run_window(op, stop, row, p);
            if (LIKELY(after)) {
                p = after;
                continue;
            }
        }
        for (const Op *o = op; o < stop; o++) {
            if (UNLIKELY(p >= end)) return BROKEN;
            if (o->code == SKIP_VARINTS) {
                p = skip_varints(p, end, data_end, (uint64_t)o->many);
            } else {
                p = varint(p, data_end, &value);
                keep(o, row, value);
            }
            if (UNLIKELY(!p)) return BROKEN;
        }
    }
    group->count += count;
    *at = p;
    return GOOD;
}

static Status run_array(const Frame *frame, const Op *op, int64_t row, const uint8_t **at) {
    int32_t count;
    const uint8_t *p = read_count(frame, *at, &count);
    if (!p) return BROKEN;
    if (op->column) ((int64_t *)op->column->values)[row] = count;
    const Op *element = op + 1, *stop = element + op->many;
    *at = p;
    if (!op->many || !count) return GOOD;
    /* Only what the bytes left can hold is made room for. */
    if (count > (frame->end - p) / op->minimum) return BROKEN;
    Group *group = op->group;
    if (group->width) {
        Status status = group_reserve(group, count);
        if (status != GOOD) return status;
    }
    if (op->plain) return run_plain(frame, element, stop, group, count, at);
    for (int32_t k = 0; k < count; k++) {
        Status status = run(frame, element, stop, group->count, at);
        if (status != GOOD) return status;
        group->count++;
    }
    return GOOD;
}

/* The operations of one record or element, whose values go to `row` of their columns. */
static Status run(const Frame *frame, const Op *op, const Op *stop, int64_t row, const uint8_t **at) {
    const uint8_t *p = *at, *end = frame->end, *data_end = frame->bytes->end;
    uint64_t value = 0;
    for (; op < stop; op++) {
        if (UNLIKELY(p >= end)) return BROKEN;
        switch (op->code) {
        case KEEP_VARINT64:
            p = varint(p, data_end, &value);
            ((uint64_t *)op->column->values)[row] = value;
            break;
        case KEEP_VARINT32:
            p = varint(p, data_end, &value);
            ((uint32_t *)op->column->values)[row] = (uint32_t)value;
            break;
        case KEEP_VARINT16:
            p = varint(p, data_end, &value);
            ((uint16_t *)op->column->values)[row] = (uint16_t)value;
            break;
        case SKIP_VARINTS:
            p = skip_varints(p, end, data_end, (uint64_t)op->many);
            break;
        case KEEP_BYTE:
            ((uint8_t *)op->column->values)[row] = *p++;
            break;
        case KEEP_FIXED16:
            if (end - p < 2) return BROKEN;
            ((uint16_t *)op->column->values)[row] = big16(p);
            p += 2;
            break;
        case KEEP_FIXED32:
            if (end - p < 4) return BROKEN;
            ((uint32_t *)op->column->values)[row] = big32(p);
            p += 4;
            break;
        case KEEP_FIXED64:
            if (end - p < 8) return BROKEN;
            ((uint64_t *)op->column->values)[row] = big64(p);
            p += 8;
            break;
        case SKIP_BYTES:
            if (end - p < op->many) return BROKEN;
            p += op->many;
            break;
        case KEEP_STRING:
            p = read_string(frame, p, (Text *)op->column->values + row);
            break;
        case SKIP_STRING: {
            Text ignored;
            p = read_string(frame, p, &ignored);
            break;
        }
        default: {
            Status status = run_array(frame, op, row, &p);
            if (status != GOOD) return status;
            op += op->many;
        }
        }
        if (UNLIKELY(!p)) return BROKEN;
    }
    *at = p;
    return GOOD;
}

Status record_append(Record *record, const Bytes *bytes, const uint8_t **at, const uint8_t *end) {
    if (UNLIKELY(record->views)) return VIEWED;
    Group *own = record->groups;
    if (UNLIKELY(own->count >= own->capacity)) {
        Status status = group_reserve(own, 1);
        if (status != GOOD) return status;
    }
    for (int32_t i = 1; i < record->group_count; i++) record->groups[i].kept = record->groups[i].count;
    Frame frame = {bytes, end};
    const uint8_t *p = *at;
    Status status = run(&frame, record->ops, record->ops + record->op_count, own->count, &p);
    if (LIKELY(status == GOOD && p <= end)) {
        own->count++;
        *at = p;
        return GOOD;
    }
    for (int32_t i = 1; i < record->group_count; i++) record->groups[i].count = record->groups[i].kept;
    return status == GOOD ? BROKEN : status;
}
