/* What a record consists of: a program compiled into operations, and the columns that these fill. */
#ifndef EMBERSCOPE_RECORD_H
#define EMBERSCOPE_RECORD_H

#include "bytes.h"
#include "index.h"

#define MAX_NESTING 8
#define MAX_OPS 4000

/* The operations of programs, as emberscope.kernel.ops has them. */
enum Word { LONG, INT, SHORT, CHAR, BYTE, BOOLEAN, FLOAT, DOUBLE, STRING, ARRAY, WORDS };

typedef enum { GOOD, BROKEN, VIEWED, NO_MEMORY } Status;

/* A string where it lies: `at` is its first byte after the length, or the key of a reference. */
typedef struct {
    int64_t at;
    int32_t length; /* bytes; units for UTF-16 */
    uint8_t encoding;
} Text;

typedef struct {
    void *values;
    size_t size;    /* bytes of memory */
    int32_t number; /* as the program's writer calls it */
    uint8_t word;
    uint8_t width;
} Column;

/* Columns that have equally many values: those of the record itself, or those of an array's element. */
typedef struct {
    Column *columns;
    int32_t width; /* how many columns */
    int64_t count, capacity;
    int64_t kept; /* the count when the record began, to which a broken record is rolled back */
} Group;

typedef struct {
    uint8_t code;
    bool plain;      /* of an array: its elements are compressed integers only */
    int32_t many;    /* values or bytes to skip; of an array: the operations of its element, which follow */
    int32_t minimum; /* of an array: the least bytes of an element */
    Column *column;  /* NULL: no column */
    Group *group;    /* of an array: the columns of its element */
} Op;

typedef struct {
    int64_t type_id;
    Op *ops;
    int32_t op_count;
    bool empty;    /* a program without operations */
    Group *groups; /* the first is the record's own */
    int32_t group_count;
    Column *columns;
    int32_t column_count;
    int32_t views;        /* living views of the columns: these must not grow meanwhile */
    Index rows;           /* keys of column 0 to rows, */
    int64_t rows_indexed; /* for so many of them */
} Record;

/* The bytes of a chunk. */
typedef struct {
    const uint8_t *data, *end;
    bool compressed;
} Bytes;

static inline int64_t record_rows(const Record *record) { return record ? record->groups[0].count : 0; }

/* Compiles a program of `count` numbers. NULL with `fault` NULL: out of memory; otherwise the fault says why. */
Record *record_new(int64_t type_id, const int32_t *program, size_t count, bool compressed, const char **fault);
void record_free(Record *record);

/* The column of this number; `within` (may be NULL) gets its group. NULL: it is not there. */
Column *record_column(const Record *record, int64_t number, Group **within);
/* The values of the group: room for `more`. */
Status group_reserve(Group *group, int64_t more);
/* Brings the index of column 0 up to date. True without an index where column 0 is no key; false: out of memory. */
bool record_index(Record *record);

/* Appends the record at `*at`; all or nothing. `*at` becomes the position after it. */
Status record_append(Record *record, const Bytes *bytes, const uint8_t **at, const uint8_t *end);

#endif
