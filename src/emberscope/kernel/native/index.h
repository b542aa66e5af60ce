/* From 64-bit keys (of a constant pool, of a parent and its child) to numbers. */
#ifndef EMBERSCOPE_INDEX_H
#define EMBERSCOPE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of all hash tables here. Odd, and of each process its own, so that no file can hold keys that all meet in one place. */
extern uint64_t hash_multiplier;

typedef struct {
    int64_t key;
    int32_t value; /* -1: a free place */
} IndexEntry;

/* All zero is an empty index. */
typedef struct {
    IndexEntry *entries;
    size_t capacity; /* 0 or a power of two */
    size_t used;
    unsigned shift;
} Index;

/* Room for so many keys more. False: out of memory. */
bool index_reserve(Index *index, size_t more);
/* Sets the number of a key, which must not be negative; of a key that is there already it is replaced. */
bool index_put(Index *index, int64_t key, int32_t value);
void index_clear(Index *index);

/* The place of a key, or the free one where it would be. */
static inline size_t index_place(const Index *index, int64_t key) {
    const IndexEntry *entries = index->entries;
    size_t at = (size_t)(((uint64_t)key * hash_multiplier) >> index->shift);
    while (entries[at].value >= 0 && entries[at].key != key) at = (at + 1) & (index->capacity - 1);
    return at;
}

/* The number of a key; -1 where it is not there. */
static inline int32_t index_find(const Index *index, int64_t key) {
    return index->capacity ? index->entries[index_place(index, key)].value : -1;
}

#endif
