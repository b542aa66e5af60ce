#include "prefix.h"

#include <stdlib.h>
#include <string.h>

bool prefix_start(Prefix *tree) {
    memset(tree, 0, sizeof *tree);
    tree->parents = malloc(16 * sizeof *tree->parents);
    tree->frames = malloc(16 * sizeof *tree->frames);
    if (!tree->parents || !tree->frames) return false;
    tree->capacity = 16;
    tree->count = 1;
    tree->parents[0] = tree->frames[0] = -1;
    return true;
}

void prefix_clear(Prefix *tree) {
    free(tree->parents);
    free(tree->frames);
    index_clear(&tree->children);
    memset(tree, 0, sizeof *tree);
}

static bool grow(Prefix *tree) {
    if (tree->capacity > INT32_MAX / 2) return false;
    int32_t capacity = tree->capacity * 2;
    int32_t *parents = realloc(tree->parents, (size_t)capacity * sizeof *parents);
    if (!parents) return false;
    tree->parents = parents;
    int32_t *frames = realloc(tree->frames, (size_t)capacity * sizeof *frames);
    if (!frames) return false;
    tree->frames = frames;
    tree->capacity = capacity;
    return true;
}

int32_t prefix_append(Prefix *tree, int32_t parent, int32_t frame) {
    if (tree->count == tree->capacity && !grow(tree)) return -1;
    int32_t node = tree->count;
    int64_t key = (int64_t)((uint64_t)(uint32_t)parent << 32 | (uint32_t)frame);
    if (!index_put(&tree->children, key, node)) return -1;
    tree->parents[node] = parent;
    tree->frames[node] = frame;
    tree->count++;
    return node;
}
