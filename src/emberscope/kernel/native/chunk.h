/* One chunk: its bytes, what is known of each type, and going through its events and checkpoints. Knows no Python. */
#ifndef EMBERSCOPE_CHUNK_H
#define EMBERSCOPE_CHUNK_H

#include "record.h"

#define DIRECT_TYPES 4096

typedef struct {
    int64_t type_id;
    int64_t count;  /* events accepted */
    int64_t broken; /* of them could not be decoded */
    Record *record; /* NULL: no program */
    bool known;     /* to the scan that goes on */
} Slot;

typedef struct {
    int64_t *values;
    int64_t count, capacity;
} Positions;

typedef struct {
    int64_t position;
    int64_t type_id;
    uint8_t reason;
} Fault;

typedef struct {
    Fault *items;
    int64_t count, capacity;
} Faults;

typedef struct {
    Bytes bytes;
    Slot *slots;
    int32_t slot_count, slot_capacity;
    Index by_type;                /* to slots, */
    int32_t direct[DIRECT_TYPES]; /* and without hashing for the ids that types mostly have; -1: none */
    Positions positions[2];       /* of metadata events, of checkpoints */
} Chunk;

enum {
    NO_CHECKPOINT,
    HEAD_CUT,
    POOLS_IMPOSSIBLE,
    POOL_HEAD_CUT,
    NO_PROGRAM,
    CONSTANTS_IMPOSSIBLE,
    CONSTANT_UNREADABLE,
};

void chunk_start(Chunk *chunk, const uint8_t *data, size_t size, bool compressed);
void chunk_clear(Chunk *chunk);

static inline Slot *chunk_slot(const Chunk *chunk, int64_t type_id) {
    int32_t at = type_id >= 0 && type_id < DIRECT_TYPES ? chunk->direct[type_id] : index_find(&chunk->by_type, type_id);
    return at < 0 ? NULL : &chunk->slots[at];
}

/* The slot of a type, made where it is not there. NULL: out of memory. */
Slot *chunk_make_slot(Chunk *chunk, int64_t type_id);

static inline Record *chunk_record(const Chunk *chunk, int64_t type_id) {
    Slot *slot = chunk_slot(chunk, type_id);
    return slot ? slot->record : NULL;
}

/* Decoder.events: slots are marked `known` before. `stopped` gets the position. */
Status chunk_events(Chunk *chunk, int64_t start, int64_t limit, bool all_known, int64_t *stopped);

/* Decoder.checkpoints. */
Status chunk_checkpoints(Chunk *chunk, const int64_t *positions, int64_t count, Faults *faults);

#endif
