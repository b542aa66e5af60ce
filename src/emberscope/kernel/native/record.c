/* Programs to operations, and the memory of the columns. */
#include "record.h"
#include "memory.h"
#include "ops.h"

#include <stdlib.h>

static const uint8_t WIDTHS[WORDS] = {8, 4, 2, 2, 1, 1, 4, 8, sizeof(Text), 8};

typedef struct {
    Record *record;
    const int32_t *program;
    bool compressed;
    const char *fault;
    int32_t columns_used, groups_used;
} Compiler;

static bool number_is_new(const Compiler *c, int32_t number) {
    for (int32_t i = 0; i < c->columns_used; i++)
        if (c->record->columns[i].number == number) return false;
    return true;
}

static int32_t columns_of(const int32_t *program, size_t start, size_t stop) {
    int32_t count = 0;
    for (size_t i = start; i < stop; i += 3) {
        count += program[i + 1] >= 0;
        if (program[i] == ARRAY) i += (size_t)program[i + 2];
    }
    return count;
}

static const char *word_fault(const int32_t *program, size_t at, size_t stop) {
    int32_t word = program[at], column = program[at + 1], length = program[at + 2];
    if (word < 0 || word >= WORDS) return "an operation that is not known";
    if (column < -1 || column >= MAX_OPS) return "an impossible column";
    if (word != ARRAY) return length ? "a length without an array" : NULL;
    if (length < 0 || length % 3 || (size_t)length > stop - at - 3) return "an impossible length of an array's element";
    return NULL;
}

static uint8_t code_of(int32_t word, bool compressed, bool keep, int32_t *bytes) {
    *bytes = 1;
    if (word == STRING) return keep ? KEEP_STRING : SKIP_STRING;
    if (compressed && word <= CHAR) {
        if (!keep) return SKIP_VARINTS;
        return word == LONG ? KEEP_VARINT64 : word == INT ? KEEP_VARINT32 : KEEP_VARINT16;
    }
    *bytes = WIDTHS[word];
    if (!keep) return SKIP_BYTES;
    return *bytes == 8 ? KEEP_FIXED64 : *bytes == 4 ? KEEP_FIXED32 : *bytes == 2 ? KEEP_FIXED16 : KEEP_BYTE;
}

/* Compiles program[start:stop], whose values are in `group`. The least bytes that it takes; -1 with a fault. */
static int32_t compile(Compiler *c, size_t start, size_t stop, Group *group, int nesting) {
    Record *record = c->record;
    int32_t least = 0;
    bool runs = false;                         /* the last operation skips and was of this level */
    for (size_t i = start; i < stop; i += 3) { /* before anything else: columns_of relies on sound lengths */
        c->fault = word_fault(c->program, i, stop);
        if (c->fault) return -1;
        if (c->program[i] == ARRAY) i += (size_t)c->program[i + 2];
    }
    group->columns = record->columns + c->columns_used;
    group->width = columns_of(c->program, start, stop);
    Column *next = group->columns;
    int32_t first = c->columns_used;
    c->columns_used += group->width;
    for (int32_t i = first; i < c->columns_used; i++) record->columns[i].number = -1;
    for (size_t i = start; i < stop; i += 3) {
        int32_t word = c->program[i], number = c->program[i + 1], bytes;
        Op op = {0};
        if (number >= 0) {
            if (!number_is_new(c, number)) {
                c->fault = "a column is used twice";
                return -1;
            }
            op.column = next++;
            op.column->number = number;
            op.column->word = (uint8_t)word;
            op.column->width = WIDTHS[word];
        }
        if (word == ARRAY) {
            if (nesting >= MAX_NESTING) {
                c->fault = "arrays are nested too deep";
                return -1;
            }
            size_t length = (size_t)c->program[i + 2];
            int32_t at = record->op_count++;
            op.code = EACH;
            op.group = record->groups + c->groups_used++;
            op.minimum = compile(c, i + 3, i + 3 + length, op.group, nesting + 1);
            if (op.minimum < 0) return -1;
            op.many = record->op_count - at - 1;
            op.plain = true;
            for (int32_t k = at + 1; k < record->op_count; k++) op.plain &= record->ops[k].code <= SKIP_VARINTS;
            record->ops[at] = op;
            least += c->compressed ? 1 : 4;
            runs = false;
            i += length;
            continue;
        }
        op.code = code_of(word, c->compressed, number >= 0, &bytes);
        least += bytes;
        bool skips = op.code == SKIP_VARINTS || op.code == SKIP_BYTES;
        int32_t many = op.code == SKIP_BYTES ? bytes : 1;
        if (skips && runs && record->ops[record->op_count - 1].code == op.code) {
            record->ops[record->op_count - 1].many += many; /* a run of skipped values is one operation */
        } else {
            op.many = many;
            record->ops[record->op_count++] = op;
        }
        runs = skips;
    }
    return least;
}

Record *record_new(int64_t type_id, const int32_t *program, size_t count, bool compressed, const char **fault) {
    *fault = count % 3 ? "a program is a list of triples" : count / 3 > MAX_OPS ? "too many operations" : NULL;
    if (*fault) return NULL;
    size_t ops = count / 3;
    Record *record = calloc(1, sizeof *record);
    if (!record) return NULL;
    record->type_id = type_id;
    record->empty = !ops;
    record->ops = calloc(ops + 1, sizeof *record->ops);
    record->columns = calloc(ops + 1, sizeof *record->columns);
    record->groups = calloc(ops + 1, sizeof *record->groups);
    Compiler c = {.record = record, .program = program, .compressed = compressed, .groups_used = 1};
    bool good = record->ops && record->columns && record->groups;
    if (!good || compile(&c, 0, count, record->groups, 0) < 0) {
        *fault = c.fault;
        record_free(record);
        return NULL;
    }
    record->group_count = c.groups_used;
    record->column_count = c.columns_used;
    return record;
}

void record_free(Record *record) {
    if (!record) return;
    for (int32_t i = 0; i < record->column_count; i++) {
        memory_free(record->columns[i].values, record->columns[i].size);
    }
    index_clear(&record->rows);
    free(record->ops);
    free(record->columns);
    free(record->groups);
    free(record);
}

Column *record_column(const Record *record, int64_t number, Group **within) {
    if (!record || number < 0) return NULL;
    for (int32_t g = 0; g < record->group_count; g++) {
        Group *group = &record->groups[g];
        for (int32_t i = 0; i < group->width; i++) {
            if (group->columns[i].number != number) continue;
            if (within) *within = group;
            return &group->columns[i];
        }
    }
    return NULL;
}

Status group_reserve(Group *group, int64_t more) {
    int64_t wanted = group->count + more;
    if (wanted <= group->capacity) return GOOD;
    int64_t capacity = group->capacity * 2 + 16, least = INT64_MAX;
    if (capacity < wanted) capacity = wanted;
    if (capacity > INT64_MAX / 64 || (uint64_t)capacity > SIZE_MAX / sizeof(Text)) return NO_MEMORY;
    for (int32_t i = 0; i < group->width; i++) {
        Column *column = &group->columns[i];
        if (column->size / column->width < (size_t)capacity) {
            size_t size = (size_t)capacity * column->width;
            void *values = memory_grow(column->values, column->size, &size);
            if (!values) return NO_MEMORY;
            column->values = values;
            column->size = size;
        }
        int64_t holds = (int64_t)(column->size / column->width);
        if (holds < least) least = holds;
    }
    group->capacity = group->width ? least : capacity;
    return GOOD;
}

bool record_index(Record *record) {
    Group *within;
    Column *keys = record_column(record, 0, &within);
    if (!keys || keys->word != LONG || within != record->groups) return true;
    int64_t rows = within->count;
    if (rows > INT32_MAX) return false;
    if (!index_reserve(&record->rows, (size_t)(rows - record->rows_indexed))) return false;
    for (; record->rows_indexed < rows; record->rows_indexed++) {
        int64_t row = record->rows_indexed;
        if (!index_put(&record->rows, ((const int64_t *)keys->values)[row], (int32_t)row)) return false;
    }
    return true;
}
