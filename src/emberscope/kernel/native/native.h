/* What the Python side of the kernel shares. Only the limited API of CPython 3.11 is used: one library for all later.
 */
#ifndef EMBERSCOPE_NATIVE_H
#define EMBERSCOPE_NATIVE_H

#define PY_SSIZE_T_CLEAN
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030b0000
#endif
#include <Python.h>

#include "chunk.h"
#include "traces.h"

typedef struct {
    PyTypeObject *decoder, *stacks, *tree, *numbers, *lines;
} NativeState;

typedef struct {
    PyObject_HEAD Py_buffer data;
    bool has_data;
    bool busy; /* set and read with the GIL held: a call of this object has let go of it */
    Chunk chunk;
} Decoder;

typedef struct {
    PyObject_HEAD Decoder *decoder;
    bool busy;
    bool pinned; /* the records of the columns are marked as viewed */
    Traces traces;
    int32_t *rows; /* of its first frames in a tree, the one that asked last */
    int32_t row_count, row_capacity;
    uint64_t tree_number;
} Stacks;

/* Marks an object as used by this thread while the GIL is not held; RuntimeError where another one uses it. */
bool enter(bool *busy);
/* Whether no other thread uses it; else RuntimeError. For calls that keep the GIL. */
bool is_free(const bool *busy);

/* The decoder, where no other thread is in it. NULL with an exception set. */
Decoder *decoder_ready(PyObject *object);
/* The slot of a type; NULL without a new exception where it has none or `self` is NULL. */
Slot *slot_of(Decoder *self, PyObject *type);
PyObject *decoder_column(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *decoder_strings(PyObject *object, PyObject *args, PyObject *keywords);
PyObject *decoder_lookup(PyObject *object, PyObject *args, PyObject *keywords);

NativeState *native_state(PyObject *self);

PyObject *xxh32(PyObject *module, PyObject *args);

/* An argument of numbers: a buffer of items of `width` bytes, or of bytes that are such. Not aligned. */
typedef struct {
    Py_buffer buffer;
    const uint8_t *bytes;
    int64_t count;
} Numbers;

bool numbers_get(PyObject *object, size_t width, Numbers *numbers);
static inline void numbers_release(Numbers *numbers) { PyBuffer_Release(&numbers->buffer); }

static inline int64_t long_at(const uint8_t *bytes, int64_t i) {
    int64_t value;
    memcpy(&value, bytes + 8 * i, 8);
    return value;
}

static inline int32_t int_at(const uint8_t *bytes, int64_t i) {
    int32_t value;
    memcpy(&value, bytes + 4 * i, 4);
    return value;
}

/* A flat memoryview of new memory, which it owns; `values` gets the memory. `count` numbers of a format, all zero. */
PyObject *numbers_new(NativeState *state, int64_t count, char format, void **values);
/* A flat memoryview of a column's values, read-only. It keeps the decoder, and the record from growing. */
PyObject *numbers_of_column(NativeState *state, PyObject *decoder, Record *record, const Column *column, int64_t count);

/* A string as Python has it; None for null and for references. NULL with an exception set: out of memory. */
PyObject *text_object(const Bytes *bytes, const Text *text);

/* A string as UTF-8. `held` gets a new reference or NULL, and what is given back may be in it. NULL: an exception. */
const char *text_utf8(const Bytes *bytes, const Text *text, PyObject **held, size_t *length);

/* PyLong to 64 bits: 1 good, 0 does not fit, -1 an exception. */
int long_of(PyObject *object, int64_t *value);

extern PyType_Spec decoder_spec, stacks_spec, tree_spec, numbers_spec, lines_spec;
extern PyMethodDef fold_methods[];
PyObject *elements(PyObject *module, PyObject *args, PyObject *keywords);
PyObject *folded(PyObject *module, PyObject *args, PyObject *keywords);

#endif
