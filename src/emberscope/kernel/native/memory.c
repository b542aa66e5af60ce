/* On Linux larger columns are mapped, and what is given back is kept for the columns of the next chunk: half of the
 * time of decoding went into copies and page faults before. What is kept is bounded, and has been in use at one time.
 */
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/mman.h>
#endif

#include "memory.h"

#include <stdlib.h>
#include <string.h>

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__)

#define MAPPED_FROM ((size_t)128 << 10)
#define SPARE_BYTES ((size_t)64 << 20)
#define SPARE_BLOCKS 64

/* Blocks that nobody uses, by any thread, with the GIL or without. */
static struct {
    atomic_flag taken;
    size_t count, bytes;
    struct {
        void *memory;
        size_t size;
    } blocks[SPARE_BLOCKS];
} spare = {.taken = ATOMIC_FLAG_INIT};

/* Who finds it taken goes without spare blocks, so that nobody ever waits, in a forked process for ever. */
static bool try_lock(void) { return !atomic_flag_test_and_set_explicit(&spare.taken, memory_order_acquire); }

static void unlock(void) { atomic_flag_clear_explicit(&spare.taken, memory_order_release); }

/* The smallest spare block of at least `*size` bytes, `*size` becoming what it has; NULL: none. */
static void *take_spare(size_t *size) {
    void *memory = NULL;
    if (!try_lock()) return NULL;
    size_t best = spare.count;
    for (size_t i = 0; i < spare.count; i++)
        if (spare.blocks[i].size >= *size && (best == spare.count || spare.blocks[i].size < spare.blocks[best].size))
            best = i;
    if (best < spare.count) {
        memory = spare.blocks[best].memory;
        *size = spare.blocks[best].size;
        spare.bytes -= *size;
        spare.blocks[best] = spare.blocks[--spare.count];
    }
    unlock();
    return memory;
}

void memory_free(void *memory, size_t size) {
    if (size < MAPPED_FROM) {
        free(memory);
        return;
    }
    bool kept = false;
    if (try_lock()) {
        kept = spare.count < SPARE_BLOCKS && size <= SPARE_BYTES - spare.bytes;
        if (kept) {
            spare.blocks[spare.count].memory = memory;
            spare.blocks[spare.count++].size = size;
            spare.bytes += size;
        }
        unlock();
    }
    if (!kept) munmap(memory, size);
}

void *memory_grow(void *old, size_t old_size, size_t *size) {
    if (*size < MAPPED_FROM) return realloc(old, *size);
    void *grown = take_spare(size);
    if (!grown && old_size >= MAPPED_FROM) {
        grown = mremap(old, old_size, *size, MREMAP_MAYMOVE);
        return grown == MAP_FAILED ? NULL : grown;
    }
    if (!grown) grown = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (grown == MAP_FAILED) return NULL;
    if (old_size) memcpy(grown, old, old_size);
    memory_free(old, old_size);
    return grown;
}

#else

void *memory_grow(void *old, size_t old_size, size_t *size) {
    (void)old_size;
    return realloc(old, *size);
}

void memory_free(void *memory, size_t size) {
    (void)size;
    free(memory);
}

#endif
