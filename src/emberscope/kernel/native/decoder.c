/* emberscope.kernel._native.Decoder */
#include "native.h"

#include <stdlib.h>

static int decoder_init(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"data", "compressed", NULL};
    Decoder *self = (Decoder *)object;
    PyObject *data;
    int compressed;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Op:Decoder", names, &data, &compressed)) return -1;
    if (self->has_data) {
        PyErr_SetString(PyExc_RuntimeError, "a decoder is made once");
        return -1;
    }
    if (PyObject_GetBuffer(data, &self->data, PyBUF_SIMPLE) < 0) return -1;
    self->has_data = true;
    chunk_start(&self->chunk, self->data.buf, (size_t)self->data.len, compressed);
    return 0;
}

static void decoder_dealloc(PyObject *object) {
    Decoder *self = (Decoder *)object;
    PyTypeObject *type = Py_TYPE(object);
    chunk_clear(&self->chunk);
    if (self->has_data) PyBuffer_Release(&self->data);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

Decoder *decoder_ready(PyObject *object) {
    Decoder *self = (Decoder *)object;
    if (!self->has_data) {
        PyErr_SetString(PyExc_RuntimeError, "a decoder without data");
        return NULL;
    }
    return is_free(&self->busy) ? self : NULL;
}

static bool raised(Status status) {
    if (status == VIEWED) PyErr_SetString(PyExc_BufferError, "columns grow while they are viewed");
    if (status == NO_MEMORY) PyErr_NoMemory();
    return status != GOOD;
}

static int32_t *program_numbers(PyObject *sequence, Py_ssize_t *count) {
    PyObject *ops = PySequence_Tuple(sequence);
    if (!ops) return NULL;
    *count = PyTuple_Size(ops);
    int32_t *numbers = malloc(((size_t)*count + 1) * sizeof *numbers);
    if (!numbers) PyErr_NoMemory();
    for (Py_ssize_t i = 0; numbers && i < *count; i++) {
        int64_t value;
        int fits = long_of(PyTuple_GetItem(ops, i), &value);
        if (fits < 0) {
            free(numbers);
            numbers = NULL;
        } else { /* what does not fit is no operation, column or length */
            numbers[i] = fits && value >= -1 && value <= INT32_MAX ? (int32_t)value : -2;
        }
    }
    Py_DECREF(ops);
    return numbers;
}

static PyObject *decoder_program(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"type_id", "ops", NULL};
    PyObject *type, *ops;
    int64_t type_id;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:program", names, &type, &ops)) return NULL;
    int fits = long_of(type, &type_id);
    if (fits < 0) return NULL;
    if (!fits) return PyErr_Format(PyExc_ValueError, "a type id of more than 64 bits");
    Py_ssize_t count;
    int32_t *numbers = program_numbers(ops, &count);
    Decoder *self = numbers ? decoder_ready(object) : NULL;
    if (!self) {
        free(numbers);
        return NULL;
    }
    const char *fault = NULL;
    Slot *slot = chunk_make_slot(&self->chunk, type_id);
    Record *record = NULL;
    if (slot && slot->record) {
        fault = "there is a program already";
    } else if (slot) {
        record = record_new(type_id, numbers, (size_t)count, self->chunk.bytes.compressed, &fault);
    }
    free(numbers);
    if (fault) return PyErr_Format(PyExc_ValueError, "program of type %lld: %s", (long long)type_id, fault);
    if (!record) return PyErr_NoMemory();
    slot->record = record;
    return Py_NewRef(Py_None);
}

/* Marks the slots of the known types and no others. */
static bool mark_known(Chunk *chunk, PyObject *known) {
    for (int32_t i = 0; i < chunk->slot_count; i++) chunk->slots[i].known = known == Py_None;
    if (known == Py_None) return true;
    PyObject *iterator = PyObject_GetIter(known), *item;
    if (!iterator) return false;
    while ((item = PyIter_Next(iterator))) {
        int64_t type_id;
        int fits = long_of(item, &type_id);
        Py_DECREF(item);
        Slot *slot = fits > 0 ? chunk_make_slot(chunk, type_id) : NULL;
        if (slot) slot->known = true;
        if (fits < 0) break;
        if (fits && !slot) {
            PyErr_NoMemory();
            break;
        }
    }
    Py_DECREF(iterator);
    return !PyErr_Occurred();
}

static PyObject *decoder_events(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"start", "limit", "known", NULL};
    Py_ssize_t start, limit;
    PyObject *known;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "nnO:events", names, &start, &limit, &known)) return NULL;
    if (start < 0) return PyErr_Format(PyExc_ValueError, "a negative position");
    Decoder *self = decoder_ready(object);
    if (!self || !enter(&self->busy)) return NULL;
    PyObject *result = NULL;
    if (mark_known(&self->chunk, known)) {
        int64_t stopped;
        Status status;
        Py_BEGIN_ALLOW_THREADS status = chunk_events(&self->chunk, start, limit, known == Py_None, &stopped);
        Py_END_ALLOW_THREADS if (!raised(status)) result = PyLong_FromLongLong(stopped);
    }
    self->busy = false;
    return result;
}

static PyObject *fault_object(const Fault *fault) {
    static const char *const REASONS[] = {
        [NO_CHECKPOINT] = "no checkpoint",
        [HEAD_CUT] = "the head is cut",
        [POOLS_IMPOSSIBLE] = "impossible number of pools",
        [POOL_HEAD_CUT] = "the head of a pool is cut",
        [NO_PROGRAM] = "constants of type %lld, which has no program",
        [CONSTANTS_IMPOSSIBLE] = "impossible number of constants of type %lld",
        [CONSTANT_UNREADABLE] = "a constant of type %lld cannot be read",
    };
    PyObject *reason = PyUnicode_FromFormat(REASONS[fault->reason], (long long)fault->type_id);
    return reason ? Py_BuildValue("(LN)", (long long)fault->position, reason) : NULL;
}

static PyObject *decoder_checkpoints(PyObject *object, PyObject *sequence) {
    PyObject *given = PySequence_Tuple(sequence);
    if (!given) return NULL;
    Py_ssize_t count = PyTuple_Size(given);
    int64_t *positions = malloc(((size_t)count + 1) * sizeof *positions);
    bool good = positions;
    if (!good) PyErr_NoMemory();
    for (Py_ssize_t i = 0; good && i < count; i++) {
        int fits = long_of(PyTuple_GetItem(given, i), &positions[i]);
        good = fits >= 0;
        if (!fits) positions[i] = -1;
    }
    Py_DECREF(given);
    Faults faults = {0};
    PyObject *result = NULL;
    Decoder *self = good ? decoder_ready(object) : NULL;
    if (self && enter(&self->busy)) {
        Status status;
        Py_BEGIN_ALLOW_THREADS status = chunk_checkpoints(&self->chunk, positions, count, &faults);
        Py_END_ALLOW_THREADS self->busy = false;
        if (!raised(status)) result = PyList_New(0);
    }
    for (int64_t i = 0; result && i < faults.count; i++) {
        PyObject *fault = fault_object(&faults.items[i]);
        if (!fault || PyList_Append(result, fault) < 0) Py_CLEAR(result);
        Py_XDECREF(fault);
    }
    free(positions);
    free(faults.items);
    return result;
}

static PyObject *decoder_counts(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Decoder *self = decoder_ready(object);
    if (!self || !enter(&self->busy)) return NULL;
    PyObject *counts = PyDict_New();
    for (int32_t i = 0; counts && i < self->chunk.slot_count; i++) {
        const Slot *slot = &self->chunk.slots[i];
        if (!slot->count) continue;
        PyObject *key = PyLong_FromLongLong(slot->type_id), *value = PyLong_FromLongLong(slot->count);
        if (!key || !value || PyDict_SetItem(counts, key, value) < 0) Py_CLEAR(counts);
        Py_XDECREF(key);
        Py_XDECREF(value);
    }
    self->busy = false;
    return counts;
}

static PyObject *decoder_positions(PyObject *object, PyObject *type) {
    int64_t type_id;
    Decoder *self = decoder_ready(object);
    int fits = self ? long_of(type, &type_id) : -1;
    if (fits < 0) return NULL;
    if (!fits || (type_id != 0 && type_id != 1))
        return PyErr_Format(PyExc_ValueError, "positions are kept of types 0 and 1");
    if (!enter(&self->busy)) return NULL;
    const Positions *list = &self->chunk.positions[type_id];
    PyObject *positions = PyList_New(0);
    for (int64_t i = 0; positions && i < list->count; i++) {
        PyObject *position = PyLong_FromLongLong(list->values[i]);
        if (!position || PyList_Append(positions, position) < 0) Py_CLEAR(positions);
        Py_XDECREF(position);
    }
    self->busy = false;
    return positions;
}

static PyObject *decoder_broken(PyObject *object, PyObject *type) {
    Slot *slot = slot_of(decoder_ready(object), type);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(slot && slot->record ? slot->broken : 0);
}

static PyObject *decoder_rows(PyObject *object, PyObject *type) {
    Slot *slot = slot_of(decoder_ready(object), type);
    return PyErr_Occurred() ? NULL : PyLong_FromLongLong(slot ? record_rows(slot->record) : 0);
}

static PyMethodDef decoder_methods[] = {
    {"program", (PyCFunction)(void (*)(void))decoder_program, METH_VARARGS | METH_KEYWORDS, NULL},
    {"events", (PyCFunction)(void (*)(void))decoder_events, METH_VARARGS | METH_KEYWORDS, NULL},
    {"checkpoints", decoder_checkpoints, METH_O, NULL},
    {"counts", decoder_counts, METH_NOARGS, NULL},
    {"positions", decoder_positions, METH_O, NULL},
    {"broken", decoder_broken, METH_O, NULL},
    {"rows", decoder_rows, METH_O, NULL},
    {"column", (PyCFunction)(void (*)(void))decoder_column, METH_VARARGS | METH_KEYWORDS, NULL},
    {"strings", (PyCFunction)(void (*)(void))decoder_strings, METH_VARARGS | METH_KEYWORDS, NULL},
    {"lookup", (PyCFunction)(void (*)(void))decoder_lookup, METH_VARARGS | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot decoder_slots[] = {
    {Py_tp_init, decoder_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, decoder_dealloc},
    {Py_tp_methods, decoder_methods},
    {0, NULL},
};

PyType_Spec decoder_spec = {
    .name = "emberscope.kernel._native.Decoder",
    .basicsize = sizeof(Decoder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = decoder_slots,
};
