#include "traces.h"

#include <stdlib.h>

bool traces_start(Traces *t) {
    int64_t rows = record_rows(t->columns.trace);
    t->truncated_frame = NOT_THERE;
    t->path_trace = NOT_THERE;
    t->starts = malloc((size_t)(rows + 1) * sizeof *t->starts);
    t->nodes = malloc((size_t)(rows + 1) * sizeof *t->nodes);
    t->flags = malloc((size_t)(rows + 1));
    if (!prefix_start(&t->tree) || !t->starts || !t->nodes || !t->flags) return false;
    t->starts[0] = 0;
    for (int64_t i = 0; i < rows; i++) {
        t->starts[i + 1] = t->starts[i] + t->columns.lengths[i];
        t->nodes[i] = NOT_THERE;
    }
    return true;
}

void traces_clear(Traces *t) {
    free(t->starts);
    free(t->nodes);
    free(t->flags);
    free(t->frames);
    free(t->frame_places);
    free(t->path);
    index_clear(&t->kinds);
    prefix_clear(&t->tree);
}

bool traces_set_kind(Traces *t, int64_t key, uint8_t kind) {
    if (key >= 0 && key < DIRECT_KINDS) {
        t->direct_kinds[key] = kind;
        return true;
    }
    return index_put(&t->kinds, key, kind);
}

static int16_t kind_of(const Traces *t, int64_t type) {
    if (type >= 0 && type < DIRECT_KINDS) return t->direct_kinds[type];
    int32_t kind = index_find(&t->kinds, type);
    return kind < 0 ? 0 : (int16_t)kind;
}

const Text *resolved_text(const TraceColumns *columns, const Text *text) {
    if (text->encoding == 2) {
        int32_t row = row_of(columns->pool, text->at);
        if (row < 0) return NULL;
        text = columns->pooled + row;
        if (text->encoding == 2) return NULL;
    }
    return text->encoding == 0 ? NULL : text;
}

static bool is_unresolved(const TraceColumns *columns, int64_t method) {
    int32_t row = row_of(columns->method, method);
    return row < 0 || !symbol_text(columns, row_of(columns->symbol, columns->method_names[row]));
}

static size_t frame_place(const Traces *t, int64_t method, int32_t line, int16_t kind) {
    uint64_t hash = ((uint64_t)method + ((uint64_t)(uint32_t)line << 40) + ((uint64_t)(uint16_t)kind << 32)) *
                    hash_multiplier;
    size_t mask = t->place_count - 1;
    size_t at = (size_t)(hash >> 32) & mask;
    while (t->frame_places[at] >= 0) {
        const LocalFrame *frame = &t->frames[t->frame_places[at]];
        if (frame->method == method && frame->line == line && frame->kind == kind) break;
        at = (at + 1) & mask;
    }
    return at;
}

/* Room for one frame more, in the list and in its hash table. */
static bool grow_frames(Traces *t) {
    if (t->frame_count == t->frame_capacity) {
        if (t->frame_capacity > INT32_MAX / 2) return false;
        int32_t capacity = t->frame_capacity ? t->frame_capacity * 2 : 64;
        LocalFrame *frames = realloc(t->frames, (size_t)capacity * sizeof *frames);
        if (!frames) return false;
        t->frames = frames;
        t->frame_capacity = capacity;
    }
    if ((size_t)t->frame_count * 2 < t->place_count) return true;
    size_t count = t->place_count ? t->place_count * 2 : 128;
    int32_t *places = realloc(t->frame_places, count * sizeof *places);
    if (!places) return false;
    memset(places, 0xff, count * sizeof *places);
    t->frame_places = places;
    t->place_count = count;
    for (int32_t i = 0; i < t->frame_count; i++) {
        const LocalFrame *frame = &t->frames[i];
        places[frame_place(t, frame->method, frame->line, frame->kind)] = i;
    }
    return true;
}

/* The number of a frame, new or not. -1: out of memory. */
static int32_t frame_of(Traces *t, int64_t method, int32_t line, int16_t kind) {
    if (t->place_count) {
        int32_t found = t->frame_places[frame_place(t, method, line, kind)];
        if (found >= 0) return found;
    }
    if (!grow_frames(t)) return -1;
    bool unresolved = kind != KIND_OF_TRUNCATED && is_unresolved(&t->columns, method);
    t->frame_places[frame_place(t, method, line, kind)] = t->frame_count;
    t->frames[t->frame_count] = (LocalFrame){method, line, kind, unresolved};
    return t->frame_count++;
}

/* How many frames two traces have in common, counted from the root. Neighbours in a pool often share most of them. */
static int64_t common_frames(const Traces *t, int64_t a, int64_t b) {
    const TraceColumns *c = &t->columns;
    if (c->truncated && !c->truncated[a] != !c->truncated[b]) return 0;
    int64_t a_last = t->starts[a + 1] - 1, b_last = t->starts[b + 1] - 1;
    int64_t most = c->lengths[a] < c->lengths[b] ? c->lengths[a] : c->lengths[b];
    int64_t same = 0;
    while (same < most && c->methods[a_last - same] == c->methods[b_last - same] &&
           (!c->types || c->types[a_last - same] == c->types[b_last - same]) &&
           (!c->lines || c->lines[a_last - same] == c->lines[b_last - same]))
        same++;
    return same;
}

static bool reserve_path(Traces *t, int64_t length) {
    if (length <= t->path_capacity) return true;
    int32_t *path = realloc(t->path, (size_t)length * 2 * sizeof *path);
    if (!path) return false;
    t->path = path;
    t->path_capacity = length * 2;
    return true;
}

/* Puts a trace into the tree. False: out of memory. */
static bool build(Traces *t, int64_t trace) {
    const TraceColumns *c = &t->columns;
    int64_t length = c->lengths[trace], last = t->starts[trace + 1] - 1;
    uint8_t flags = c->truncated && c->truncated[trace] ? FLAG_TRUNCATED : 0;
    int32_t node = 0;
    if (!length) {
        t->nodes[trace] = 0;
        t->flags[trace] = flags | FLAG_NO_STACK;
        return true;
    }
    if (!reserve_path(t, length)) return false;
    int64_t depth = t->path_trace >= 0 ? common_frames(t, trace, t->path_trace) : 0;
    int64_t unresolved = depth && t->path_unresolved < depth ? t->path_unresolved : INT64_MAX;
    t->path_trace = NOT_THERE;
    if (depth) {
        node = t->path[depth - 1];
    } else if (flags) {
        if (t->truncated_frame < 0) t->truncated_frame = frame_of(t, 0, 0, KIND_OF_TRUNCATED);
        if (t->truncated_frame < 0) return false;
        node = prefix_child(&t->tree, 0, t->truncated_frame);
        if (node < 0) return false;
    }
    for (; depth < length; depth++) {
        int64_t at = last - depth;
        int32_t frame =
            frame_of(t, c->methods[at], c->lines ? c->lines[at] : 0, c->types ? kind_of(t, c->types[at]) : 0);
        if (frame < 0) return false;
        if (t->frames[frame].unresolved && unresolved > depth) unresolved = depth;
        node = prefix_child(&t->tree, node, frame);
        if (node < 0) return false;
        t->path[depth] = node;
    }
    t->path_trace = trace;
    t->path_unresolved = unresolved;
    t->nodes[trace] = node;
    t->flags[trace] = unresolved == INT64_MAX ? flags : flags | FLAG_UNRESOLVED;
    return true;
}

bool traces_nodes(Traces *t, const void *keys, int64_t count, int32_t *nodes, uint8_t *flags) {
    for (int64_t i = 0; i < count; i++) {
        int64_t key;
        memcpy(&key, (const uint8_t *)keys + 8 * i, 8);
        int32_t trace = key ? row_of(t->columns.trace, key) : NOT_THERE;
        if (trace < 0) {
            nodes[i] = 0;
            flags[i] = key ? FLAG_UNRESOLVED : FLAG_NO_STACK;
            continue;
        }
        if (t->nodes[trace] < 0 && !build(t, trace)) return false;
        nodes[i] = t->nodes[trace];
        flags[i] = t->flags[trace];
    }
    return true;
}
