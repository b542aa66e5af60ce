#include "index.h"

#include <stdlib.h>
#include <string.h>

uint64_t hash_multiplier = UINT64_C(0x9E3779B97F4A7C15);

static bool rebuild(Index *index, size_t capacity) {
    IndexEntry *old = index->entries;
    size_t old_capacity = index->capacity;
    if (capacity > SIZE_MAX / sizeof *old) return false;
    IndexEntry *entries = malloc(capacity * sizeof *entries);
    if (!entries) return false;
    memset(entries, 0xff, capacity * sizeof *entries);
    index->entries = entries;
    index->capacity = capacity;
    index->shift = 64;
    for (size_t n = capacity; n > 1; n >>= 1) index->shift--;
    for (size_t i = 0; i < old_capacity; i++)
        if (old[i].value >= 0) entries[index_place(index, old[i].key)] = old[i];
    free(old);
    return true;
}

bool index_reserve(Index *index, size_t more) {
    size_t capacity = index->capacity ? index->capacity : 16;
    while ((index->used + more) * 2 > capacity) {
        if (capacity > SIZE_MAX / 4) return false;
        capacity *= 2;
    }
    return capacity == index->capacity || rebuild(index, capacity);
}

bool index_put(Index *index, int64_t key, int32_t value) {
    if (!index_reserve(index, 1)) return false;
    IndexEntry *entry = &index->entries[index_place(index, key)];
    if (entry->value < 0) index->used++;
    entry->key = key;
    entry->value = value;
    return true;
}

void index_clear(Index *index) {
    free(index->entries);
    memset(index, 0, sizeof *index);
}
