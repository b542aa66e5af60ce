/* Columns of numbers to and from Python, by the buffer protocol. */
#include "native.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD void *values;
    Py_ssize_t count, width;
    char format[2];
    PyObject *decoder; /* whose memory it is; NULL: our own */
    Record *record;
} NumbersObject;

static Py_ssize_t width_of(char format) {
    return format == 'q' || format == 'd'   ? 8
           : format == 'i' || format == 'f' ? 4
           : format == 'h' || format == 'H' ? 2
                                            : 1;
}

static NumbersObject *numbers_alloc(NativeState *state, int64_t count, char format) {
    NumbersObject *self = PyObject_New(NumbersObject, state->numbers);
    if (!self) return NULL;
    self->values = NULL;
    self->count = (Py_ssize_t)count;
    self->width = width_of(format);
    self->format[0] = format;
    self->format[1] = 0;
    self->decoder = NULL;
    self->record = NULL;
    return self;
}

static PyObject *view(NumbersObject *self) {
    PyObject *memory = PyMemoryView_FromObject((PyObject *)self);
    Py_DECREF(self);
    return memory;
}

PyObject *numbers_new(NativeState *state, int64_t count, char format, void **values) {
    if (count < 0 || count > PY_SSIZE_T_MAX / 8) return PyErr_NoMemory();
    NumbersObject *self = numbers_alloc(state, count, format);
    if (!self) return NULL;
    self->values = *values = calloc(count ? (size_t)count : 1, (size_t)self->width);
    if (self->values) return view(self);
    Py_DECREF(self);
    return PyErr_NoMemory();
}

PyObject *numbers_of_column(NativeState *state, PyObject *decoder, Record *record, const Column *column,
                            int64_t count) {
    static const char FORMATS[] = "qihHbBfd q";
    static int64_t nothing; /* where the values of a column without memory are */
    NumbersObject *self = numbers_alloc(state, count, FORMATS[column->word]);
    if (!self) return NULL;
    self->values = column->values ? column->values : &nothing;
    self->decoder = Py_NewRef(decoder);
    self->record = record;
    record->views++;
    return view(self);
}

static void numbers_dealloc(PyObject *object) {
    NumbersObject *self = (NumbersObject *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->record) {
        self->record->views--;
    } else {
        free(self->values);
    }
    Py_XDECREF(self->decoder);
    PyObject_Free(object);
    Py_DECREF(type);
}

static int numbers_getbuffer(PyObject *object, Py_buffer *buffer, int flags) {
    NumbersObject *self = (NumbersObject *)object;
    if (self->record && flags & PyBUF_WRITABLE) {
        buffer->obj = NULL;
        PyErr_SetString(PyExc_BufferError, "a column is read-only");
        return -1;
    }
    buffer->buf = self->values;
    buffer->obj = Py_NewRef(object);
    buffer->len = self->count * self->width;
    buffer->itemsize = self->width;
    buffer->readonly = self->record != NULL;
    buffer->ndim = 1;
    buffer->format = flags & PyBUF_FORMAT ? self->format : NULL;
    buffer->shape = flags & PyBUF_ND ? &self->count : NULL;
    buffer->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &self->width : NULL;
    buffer->suboffsets = NULL;
    buffer->internal = NULL;
    return 0;
}

static PyType_Slot numbers_slots[] = {
    {Py_tp_dealloc, numbers_dealloc},
    {Py_bf_getbuffer, numbers_getbuffer},
    {0, NULL},
};

PyType_Spec numbers_spec = {
    .name = "emberscope.kernel._native.Numbers",
    .basicsize = sizeof(NumbersObject),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = numbers_slots,
};

bool numbers_get(PyObject *object, size_t width, Numbers *numbers) {
    if (PyObject_GetBuffer(object, &numbers->buffer, PyBUF_ND | PyBUF_FORMAT) < 0) return false;
    Py_ssize_t item = numbers->buffer.itemsize, length = numbers->buffer.len;
    if (item != 1 && (size_t)item != width) {
        PyErr_Format(PyExc_TypeError, "numbers of %zu bytes are wanted, not of %zd", width, item);
    } else if (length % (Py_ssize_t)width) {
        PyErr_Format(PyExc_ValueError, "%zd bytes are no whole count of numbers of %zu", length, width);
    } else {
        numbers->bytes = numbers->buffer.buf;
        numbers->count = length / (Py_ssize_t)width;
        return true;
    }
    PyBuffer_Release(&numbers->buffer);
    return false;
}
