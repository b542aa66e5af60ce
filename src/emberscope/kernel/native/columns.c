/* What a decoder has read, for Python: numbers as memoryviews, strings as lists. */
#include "native.h"

#include <stdlib.h>

Slot *slot_of(Decoder *self, PyObject *type) {
    int64_t type_id;
    int fits = self ? long_of(type, &type_id) : -1;
    return fits > 0 ? chunk_slot(&self->chunk, type_id) : NULL;
}

/* A column that must be there, a STRING or not as is wanted. */
static Column *column_of(Decoder *self, PyObject *type, PyObject *number, bool string, Record **record, Group **group) {
    int64_t wanted;
    Slot *slot = slot_of(self, type);
    if (PyErr_Occurred()) return NULL;
    int fits = long_of(number, &wanted);
    if (fits < 0) return NULL;
    *record = slot ? slot->record : NULL;
    Column *column = fits ? record_column(*record, wanted, group) : NULL;
    if (!column) {
        PyErr_Format(PyExc_KeyError, "type %S has no column %S", type, number);
    } else if ((column->word == STRING) != string) {
        PyErr_Format(PyExc_TypeError, "column %S of type %S is%s a string", number, type, string ? " not" : "");
        column = NULL;
    }
    return column;
}

PyObject *decoder_column(PyObject *object, PyObject *args, PyObject *keywords) {
    PyObject *type, *number;
    Record *record;
    Group *group;
    static char *names[] = {"type_id", "column", NULL};
    Decoder *self = decoder_ready(object);
    if (!self || !PyArg_ParseTupleAndKeywords(args, keywords, "OO:column", names, &type, &number)) return NULL;
    Column *column = column_of(self, type, number, false, &record, &group);
    return column ? numbers_of_column(native_state(object), object, record, column, group->count) : NULL;
}

/* A string with its reference followed. What is in the pool becomes one Python string, however often it is referred to.
 */
static PyObject *looked_up(const Bytes *bytes, const Text *text, const Record *pool, const Text *pooled,
                           PyObject **cache) {
    int32_t row = text->encoding == 2 ? row_of(pool, text->at) : NOT_THERE;
    if (row < 0) return text_object(bytes, text);
    if (!cache[row]) cache[row] = text_object(bytes, pooled + row);
    return cache[row] ? Py_NewRef(cache[row]) : NULL;
}

PyObject *decoder_strings(PyObject *object, PyObject *args, PyObject *keywords) {
    PyObject *type, *number, *pair, *pool_type, *pool_number;
    Record *record, *pool = NULL;
    Group *group, *pool_group;
    Column *pool_column = NULL;
    static char *names[] = {"type_id", "column", "pool", NULL};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:strings", names, &type, &number, &pair)) return NULL;
    Decoder *self = decoder_ready(object);
    if (!self) return NULL;
    Column *column = column_of(self, type, number, true, &record, &group);
    if (!column) return NULL;
    if (pair != Py_None) {
        if (!PyArg_ParseTuple(pair, "OO", &pool_type, &pool_number)) return NULL;
        pool_column = column_of(self, pool_type, pool_number, true, &pool, &pool_group);
        if (!pool_column) return NULL;
        if (pool_group != pool->groups) return PyErr_Format(PyExc_TypeError, "the strings of a pool are in an array");
        if (!record_index(pool)) return PyErr_NoMemory();
    }
    if (!enter(&self->busy)) return NULL;
    int64_t pool_rows = record_rows(pool);
    PyObject **cache = calloc((size_t)pool_rows + 1, sizeof *cache);
    const Text *pooled = pool_column ? pool_column->values : NULL, *texts = column->values;
    PyObject *strings = cache ? PyList_New((Py_ssize_t)group->count) : PyErr_NoMemory();
    for (int64_t i = 0; strings && i < group->count; i++) {
        PyObject *string = looked_up(&self->chunk.bytes, texts + i, pool, pooled, cache);
        if (!string || PyList_SetItem(strings, (Py_ssize_t)i, string) < 0) Py_CLEAR(strings);
    }
    for (int64_t i = 0; cache && i < pool_rows; i++) Py_XDECREF(cache[i]);
    free(cache);
    self->busy = false;
    return strings;
}

PyObject *decoder_lookup(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"type_id", "keys", NULL};
    PyObject *type, *given;
    Numbers keys;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:lookup", names, &type, &given)) return NULL;
    if (!numbers_get(given, 8, &keys)) return NULL;
    void *values;
    PyObject *result = numbers_new(native_state(object), keys.count, 'i', &values);
    int32_t *rows = values;
    Slot *slot = slot_of(result ? decoder_ready(object) : NULL, type);
    Record *record = slot ? slot->record : NULL;
    if (record && !record_index(record)) PyErr_NoMemory();
    if (PyErr_Occurred()) Py_CLEAR(result);
    for (int64_t i = 0; result && i < keys.count; i++) rows[i] = row_of(record, long_at(keys.bytes, i));
    numbers_release(&keys);
    return result;
}
