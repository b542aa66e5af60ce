/* Lines of JSON to rows of integers: programs, and one pass over some lines. */
#ifndef EMBERSCOPE_LINES_H
#define EMBERSCOPE_LINES_H

#include "bytes.h"

#define MOST_MEMBERS 63
#define MOST_LEARNED 64
#define MOST_NODES 32
#define MOST_TEXTS 4096

typedef enum { TAKE_LONG, TAKE_INT, TAKE_FLAG, TAKE_TEXT, TAKE_OBJECT, TAKE_ZERO, IS_TEXT, IS_ABSENT, ACTIONS } Action;

/* A member of an object: `key` is its name as it stands on a line, with quotes and the colon. */
typedef struct {
    uint8_t *key, *text; /* text: what IS_TEXT wants, with its quotes */
    uint32_t key_length, text_length;
    Action action;
    int32_t column; /* of TAKE_OBJECT: gets 1; -1: it is only checked */
    int32_t node;
} Member;

typedef struct {
    Member *members;
    uint64_t required; /* a bit for each member */
    int32_t count;
} Node;

/* Lines that begin with `prefix`, which ends within their object; `row` is what is not on a line. Column 0 of a row is
 * the number of its line. */
typedef struct {
    uint8_t *prefix;
    int64_t *row;
    Node *nodes;
    size_t prefix_length;
    int32_t width, node_count;
} Kind;

typedef struct {
    int64_t *values;
    size_t count, capacity;
} Longs;

/* What a pass over some lines found. Texts lie within the lines. */
typedef struct {
    int64_t line_count;
    Longs *rows;   /* of each kind */
    Longs others;  /* number, start and end of each line that was left */
    struct {
        const uint8_t *start;
        uint32_t length;
    } *texts;
    int32_t text_count;
} Found;

/* False: no memory. */
bool lines_scan(const Kind *kinds, size_t kind_count, const uint8_t *text, size_t length, Found *found);

#endif
