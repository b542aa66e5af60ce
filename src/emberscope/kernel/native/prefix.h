/* A prefix tree: nodes by parent and frame. Node 0 is the root; a parent has a smaller number than its children. */
#ifndef EMBERSCOPE_PREFIX_H
#define EMBERSCOPE_PREFIX_H

#include "index.h"

typedef struct {
    int32_t *parents, *frames;
    int32_t count, capacity;
    Index children;
} Prefix;

/* A tree of the root alone. False: out of memory. */
bool prefix_start(Prefix *tree);
void prefix_clear(Prefix *tree);
/* Appends a child without looking whether it is there. -1: out of memory. */
int32_t prefix_append(Prefix *tree, int32_t parent, int32_t frame);

/* The child of `parent` with this frame, made where it is not there. -1: out of memory. */
static inline int32_t prefix_child(Prefix *tree, int32_t parent, int32_t frame) {
    int32_t found = index_find(&tree->children, (int64_t)((uint64_t)(uint32_t)parent << 32 | (uint32_t)frame));
    return found >= 0 ? found : prefix_append(tree, parent, frame);
}

#endif
