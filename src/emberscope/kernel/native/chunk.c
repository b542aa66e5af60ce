#include "chunk.h"

#include <stdlib.h>

void chunk_start(Chunk *chunk, const uint8_t *data, size_t size, bool compressed) {
    memset(chunk, 0, sizeof *chunk);
    memset(chunk->direct, 0xff, sizeof chunk->direct);
    chunk->bytes = (Bytes){data, data + size, compressed};
}

void chunk_clear(Chunk *chunk) {
    for (int32_t i = 0; i < chunk->slot_count; i++) record_free(chunk->slots[i].record);
    free(chunk->slots);
    free(chunk->positions[0].values);
    free(chunk->positions[1].values);
    index_clear(&chunk->by_type);
}

/* Room for one more item of `width` bytes: the array, moved or not; NULL: out of memory. */
static void *room(void *items, int64_t count, int64_t *capacity, size_t width) {
    if (count < *capacity) return items;
    int64_t wanted = *capacity + *capacity / 2 + 16;
    if ((uint64_t)wanted > SIZE_MAX / width) return NULL;
    void *moved = realloc(items, (size_t)wanted * width);
    if (moved) *capacity = wanted;
    return moved;
}

Slot *chunk_make_slot(Chunk *chunk, int64_t type_id) {
    Slot *found = chunk_slot(chunk, type_id);
    if (found) return found;
    int64_t capacity = chunk->slot_capacity;
    if (chunk->slot_count == INT32_MAX / 2) return NULL;
    Slot *slots = room(chunk->slots, chunk->slot_count, &capacity, sizeof *slots);
    if (!slots) return NULL;
    chunk->slots = slots;
    chunk->slot_capacity = (int32_t)capacity;
    if (type_id >= 0 && type_id < DIRECT_TYPES) {
        chunk->direct[type_id] = chunk->slot_count;
    } else if (!index_put(&chunk->by_type, type_id, chunk->slot_count)) {
        return NULL;
    }
    Slot *slot = &slots[chunk->slot_count++];
    *slot = (Slot){.type_id = type_id};
    return slot;
}

/* Size and type of the event at `p`. NULL: the data ends within them, or no event there can have that size. */
static const uint8_t *read_head(const Bytes *bytes, const uint8_t *p, int32_t *size, int64_t *type_id) {
    const uint8_t *q = read_int(p, bytes->end, bytes->compressed, size);
    if (q) q = read_long(q, bytes->end, bytes->compressed, type_id);
    return q && *size >= 2 && *size <= bytes->end - p ? q : NULL;
}

/* Whether an event that ends at `p` can be believed, though nothing describes its type. */
static bool is_boundary(const Chunk *chunk, const uint8_t *p, const uint8_t *limit) {
    if (p == limit) return true;
    int32_t size;
    int64_t type_id;
    if (!read_head(&chunk->bytes, p, &size, &type_id)) return false;
    const Slot *slot = chunk_slot(chunk, type_id);
    return slot && slot->known;
}

Status chunk_events(Chunk *chunk, int64_t start, int64_t limit, bool all_known, int64_t *stopped) {
    const Bytes *bytes = &chunk->bytes;
    int64_t available = bytes->end - bytes->data;
    *stopped = start;
    if (start > available || start >= limit) return GOOD;
    const uint8_t *p = bytes->data + start;
    const uint8_t *stop = limit < available ? bytes->data + limit : bytes->end;
    /* Beyond the data no event ends: a limit there is never met. */
    const uint8_t *boundary = limit <= available ? stop : NULL;
    Status status = GOOD;
    while (p < stop) {
        int32_t size;
        int64_t type_id;
        const uint8_t *body = read_head(bytes, p, &size, &type_id);
        if (!body) break;
        const uint8_t *after = p + size;
        Slot *slot = chunk_slot(chunk, type_id);
        if (UNLIKELY(!slot || (!slot->count && !slot->known))) {
            if (!all_known && !is_boundary(chunk, after, boundary)) break;
            slot = chunk_make_slot(chunk, type_id);
            status = slot ? GOOD : NO_MEMORY;
            if (!slot) break;
        }
        if (type_id == 0 || type_id == 1) {
            Positions *list = &chunk->positions[type_id];
            int64_t *values = room(list->values, list->count, &list->capacity, sizeof *values);
            status = values ? GOOD : NO_MEMORY;
            if (!values) break;
            list->values = values;
            values[list->count++] = p - bytes->data;
        } else if (slot->record) {
            status = record_append(slot->record, bytes, &body, after);
            if (status == BROKEN) {
                slot->broken++;
                status = GOOD;
            }
            if (status != GOOD) break;
        }
        slot->count++;
        p = after;
    }
    *stopped = p - bytes->data;
    return status;
}

/* The pools of a checkpoint, from their number on; `fault` gets what is wrong with the first that is. */
static Status read_pools(Chunk *chunk, const uint8_t *p, const uint8_t *end, int32_t pools, Fault *fault,
                         bool *faulty) {
    const Bytes *bytes = &chunk->bytes;
    *faulty = true;
    fault->reason = POOLS_IMPOSSIBLE;
    if (pools < 0 || pools > end - p) return GOOD;
    for (int32_t i = 0; i < pools; i++) {
        int32_t count;
        fault->reason = POOL_HEAD_CUT;
        p = read_long(p, end, bytes->compressed, &fault->type_id);
        if (p) p = read_int(p, end, bytes->compressed, &count);
        if (!p) return GOOD;
        Record *record = chunk_record(chunk, fault->type_id);
        fault->reason = NO_PROGRAM;
        if (!record) return GOOD;
        fault->reason = CONSTANTS_IMPOSSIBLE;
        if (count < 0 || count > end - p) return GOOD;
        fault->reason = CONSTANT_UNREADABLE;
        if (record->empty) { /* no bytes and no columns, so there is nothing to go through */
            if (record->views && count) return VIEWED;
            record->groups[0].count += count;
            continue;
        }
        for (int32_t k = 0; k < count; k++) {
            Status status = record_append(record, bytes, &p, end);
            if (status != GOOD) return status == BROKEN ? GOOD : status;
        }
    }
    *faulty = false;
    return GOOD;
}

/* One checkpoint: size, type, start, duration, distance to the one before, a byte of flags, pools. */
static Status read_checkpoint(Chunk *chunk, int64_t position, Fault *fault, bool *faulty) {
    const Bytes *bytes = &chunk->bytes;
    *faulty = true;
    fault->position = position;
    fault->reason = NO_CHECKPOINT;
    if (position < 0 || position >= bytes->end - bytes->data) return GOOD;
    const uint8_t *start = bytes->data + position;
    int32_t size, pools;
    const uint8_t *p = read_head(bytes, start, &size, &fault->type_id);
    if (!p || fault->type_id != 1) return GOOD;
    const uint8_t *end = start + size;
    fault->reason = HEAD_CUT;
    if (p > end) return GOOD;
    int64_t ignored;
    for (int i = 0; i < 3 && p; i++) p = read_long(p, end, bytes->compressed, &ignored);
    if (!p || p >= end) return GOOD;
    p = read_int(p + 1, end, bytes->compressed, &pools);
    if (!p) return GOOD;
    return read_pools(chunk, p, end, pools, fault, faulty);
}

Status chunk_checkpoints(Chunk *chunk, const int64_t *positions, int64_t count, Faults *faults) {
    for (int64_t i = 0; i < count; i++) {
        Fault *items = room(faults->items, faults->count, &faults->capacity, sizeof *items);
        if (!items) return NO_MEMORY;
        faults->items = items;
        bool faulty;
        Status status = read_checkpoint(chunk, positions[i], &items[faults->count], &faulty);
        if (status != GOOD) return status;
        faults->count += faulty;
    }
    return GOOD;
}
