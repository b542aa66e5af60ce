/* The stack traces of a chunk as nodes of a local prefix tree. Knows no Python. */
#ifndef EMBERSCOPE_TRACES_H
#define EMBERSCOPE_TRACES_H

#include "prefix.h"
#include "record.h"

#define NOT_THERE (-1)
#define KIND_OF_TRUNCATED (-1)
#define DIRECT_KINDS 64

enum { FLAG_TRUNCATED = 1, FLAG_UNRESOLVED = 2, FLAG_NO_STACK = 4 };

typedef struct {
    int64_t method;
    int32_t line;
    int16_t kind; /* KIND_OF_TRUNCATED: the frame TRUNCATED, of which there is one */
    bool unresolved;
} LocalFrame;

/* The columns that stacks are made of; a record without program is NULL and has no rows. */
typedef struct {
    Record *trace, *method, *klass, *symbol, *pool;
    const uint8_t *truncated; /* may be NULL, as may `types` and `lines` */
    const int64_t *lengths, *methods, *types;
    const int32_t *lines;
    const int64_t *method_classes, *method_names, *class_names;
    const Text *symbols, *pooled;
} TraceColumns;

typedef struct {
    TraceColumns columns;
    int64_t *starts; /* of traces in the frames' columns; one more than traces */
    int32_t *nodes;  /* of traces; NOT_THERE: not asked for yet */
    uint8_t *flags;  /* of traces */
    Index kinds;     /* of keys of frame types */
    int16_t direct_kinds[DIRECT_KINDS];
    LocalFrame *frames;
    int32_t frame_count, frame_capacity;
    int32_t *frame_places; /* hash table of frames; -1: free */
    size_t place_count;
    int32_t truncated_frame;
    int32_t *path; /* the nodes of the trace that was built last, from the root's child on */
    int64_t path_capacity;
    int64_t path_trace;      /* which that is; NOT_THERE: none */
    int64_t path_unresolved; /* depth of its first frame that could not be resolved */
    Prefix tree;
} Traces;

/* `columns` are set before. False: out of memory. */
bool traces_start(Traces *traces);
void traces_clear(Traces *traces);
bool traces_set_kind(Traces *traces, int64_t key, uint8_t kind);
/* Nodes and flags of keys (not aligned). False: out of memory. */
bool traces_nodes(Traces *traces, const void *keys, int64_t count, int32_t *nodes, uint8_t *flags);

/* The row of a key; NOT_THERE also where the record is not. */
static inline int32_t row_of(const Record *record, int64_t key) {
    return record ? index_find(&record->rows, key) : NOT_THERE;
}

/* A string with its reference followed, once. NULL: there is none. */
const Text *resolved_text(const TraceColumns *columns, const Text *text);
/* The text of a symbol's row; NULL: none. */
static inline const Text *symbol_text(const TraceColumns *columns, int32_t row) {
    return row < 0 ? NULL : resolved_text(columns, columns->symbols + row);
}

#endif
