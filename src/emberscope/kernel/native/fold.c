/* Sums of weights by node. */
#include "native.h"

#include <stdlib.h>

static int64_t held_sum(int64_t a, int64_t b) {
    if (b > 0 && a > INT64_MAX - b) return INT64_MAX;
    if (b < 0 && a < INT64_MIN - b) return INT64_MIN;
    return a + b;
}

static PyObject *where(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"keys", "accepted", NULL};
    PyObject *given, *accepted, *item;
    Numbers keys;
    Index good = {0};
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OO:where", names, &given, &accepted)) return NULL;
    PyObject *iterator = PyObject_GetIter(accepted);
    if (!iterator) return NULL;
    while ((item = PyIter_Next(iterator))) {
        int64_t key;
        int fits = long_of(item, &key);
        Py_DECREF(item);
        if (fits > 0 && !index_put(&good, key, 0)) PyErr_NoMemory();
        if (PyErr_Occurred()) break;
    }
    Py_DECREF(iterator);
    PyObject *result = NULL;
    if (!PyErr_Occurred() && numbers_get(given, 8, &keys)) {
        int64_t found = 0;
        int32_t *rows = keys.count > INT32_MAX ? NULL : malloc(((size_t)keys.count + 1) * sizeof *rows);
        void *values;
        if (rows) {
            Py_BEGIN_ALLOW_THREADS for (int64_t i = 0; i < keys.count;
                                        i++) if (index_find(&good, long_at(keys.bytes, i)) >= 0) rows[found++] =
                (int32_t)i;
            Py_END_ALLOW_THREADS result = numbers_new(PyModule_GetState(module), found, 'i', &values);
        } else {
            PyErr_NoMemory();
        }
        if (result && found) memcpy(values, rows, (size_t)found * sizeof *rows);
        free(rows);
        numbers_release(&keys);
    }
    index_clear(&good);
    return result;
}

/* Adds to `sums`; -1, or the row that is wrong (and then `sums` are of no use). */
static int64_t add_up(int64_t *sums, int64_t size, const Numbers *nodes, const Numbers *weights, const Numbers *rows) {
    int64_t count = rows ? rows->count : nodes->count;
    for (int64_t i = 0; i < count; i++) {
        int64_t row = rows ? int_at(rows->bytes, i) : i;
        if (row < 0 || row >= nodes->count) return i;
        int64_t node = int_at(nodes->bytes, row);
        if (node < 0 || node >= size) return i;
        sums[node] = held_sum(sums[node], weights ? long_at(weights->bytes, row) : 1);
    }
    return -1;
}

static bool optional_numbers(PyObject *object, size_t width, Numbers *numbers, Numbers **chosen) {
    *chosen = NULL;
    if (object == Py_None) return true;
    if (!numbers_get(object, width, numbers)) return false;
    *chosen = numbers;
    return true;
}

static PyObject *tally_of(PyObject *module, const Numbers *nodes, const Numbers *weights, const Numbers *rows,
                          Py_ssize_t size) {
    if (size < 0) return PyErr_Format(PyExc_ValueError, "a negative size");
    if (weights && weights->count != nodes->count)
        return PyErr_Format(PyExc_ValueError, "nodes and weights of different length");
    void *sums;
    int64_t wrong;
    PyObject *result = numbers_new(PyModule_GetState(module), size, 'q', &sums);
    if (!result) return NULL;
    Py_BEGIN_ALLOW_THREADS wrong = add_up(sums, size, nodes, weights, rows);
    Py_END_ALLOW_THREADS if (wrong < 0) return result;
    Py_DECREF(result);
    return PyErr_Format(PyExc_IndexError, "row or node number %lld is not there", (long long)wrong);
}

static PyObject *tally(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"nodes", "weights", "rows", "size", NULL};
    PyObject *given[3], *result = NULL;
    Py_ssize_t size;
    Numbers numbers[3], *weights, *rows;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOn:tally", names, &given[0], &given[1], &given[2], &size))
        return NULL;
    if (!numbers_get(given[0], 4, &numbers[0])) return NULL;
    if (optional_numbers(given[1], 8, &numbers[1], &weights)) {
        if (optional_numbers(given[2], 4, &numbers[2], &rows)) {
            result = tally_of(module, &numbers[0], weights, rows, size);
            if (rows) numbers_release(rows);
        }
        if (weights) numbers_release(weights);
    }
    numbers_release(&numbers[0]);
    return result;
}

static PyObject *add_into(Py_buffer *into, const Numbers *nodes, const Numbers *weights) {
    if (into->len % 8 || (into->itemsize != 8 && into->itemsize != 1))
        return PyErr_Format(PyExc_TypeError, "sums of 8 bytes are wanted");
    if (nodes->count != weights->count) return PyErr_Format(PyExc_ValueError, "nodes and weights of different length");
    char *sums = into->buf;
    int64_t size = into->len / 8, wrong = -1;
    Py_BEGIN_ALLOW_THREADS for (int64_t i = 0; wrong < 0 && i < nodes->count;
                                i++) if (int_at(nodes->bytes, i) < 0 || int_at(nodes->bytes, i) >= size) wrong = i;
    for (int64_t i = 0; wrong < 0 && i < nodes->count; i++) {
        int64_t at = 8 * (int64_t)int_at(nodes->bytes, i), sum;
        memcpy(&sum, sums + at, 8);
        sum = held_sum(sum, long_at(weights->bytes, i));
        memcpy(sums + at, &sum, 8);
    }
    Py_END_ALLOW_THREADS if (wrong >= 0) return PyErr_Format(PyExc_IndexError, "node number %lld is not there",
                                                             (long long)wrong);
    return Py_NewRef(Py_None);
}

static PyObject *add(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"into", "nodes", "weights", NULL};
    PyObject *given[3], *result = NULL;
    Py_buffer into;
    Numbers nodes, weights;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOO:add", names, &given[0], &given[1], &given[2])) return NULL;
    if (PyObject_GetBuffer(given[0], &into, PyBUF_WRITABLE | PyBUF_ND | PyBUF_FORMAT) < 0) return NULL;
    if (numbers_get(given[1], 4, &nodes)) {
        if (numbers_get(given[2], 8, &weights)) {
            result = add_into(&into, &nodes, &weights);
            numbers_release(&weights);
        }
        numbers_release(&nodes);
    }
    PyBuffer_Release(&into);
    return result;
}

PyMethodDef fold_methods[] = {
    {"where", (PyCFunction)(void (*)(void))where, METH_VARARGS | METH_KEYWORDS, NULL},
    {"tally", (PyCFunction)(void (*)(void))tally, METH_VARARGS | METH_KEYWORDS, NULL},
    {"add", (PyCFunction)(void (*)(void))add, METH_VARARGS | METH_KEYWORDS, NULL},
    {"folded", (PyCFunction)(void (*)(void))folded, METH_VARARGS | METH_KEYWORDS, NULL},
    {"elements", (PyCFunction)(void (*)(void))elements, METH_VARARGS | METH_KEYWORDS, NULL},
    {"xxh32", xxh32, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
