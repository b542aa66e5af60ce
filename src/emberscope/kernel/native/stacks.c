/* emberscope.kernel._native.Stacks */
#include "native.h"
#include "texts.h"

#include <stdlib.h>

/* Where a column's values are: NULL with an exception set where there is no such column of this kind. A type without a
 * program is an empty pool, for which any column will do: `missing` is given back then. */
static const void *values_of(const Record *record, int number, int word, const Group *like, Group **within) {
    static const int64_t missing[1];
    Group *group;
    if (!record) return missing;
    Column *column = record_column(record, number, &group);
    if (!column) {
        PyErr_Format(PyExc_KeyError, "type %lld has no column %d", (long long)record->type_id, number);
    } else if (column->word != word || (like && group != like)) {
        PyErr_Format(PyExc_TypeError, "column %d of type %lld is of another kind", number, (long long)record->type_id);
    } else {
        if (within) *within = group;
        return column->values ? column->values : missing;
    }
    return NULL;
}

static const void *own_values(const Record *record, int number, int word) {
    return values_of(record, number, word, record ? record->groups : NULL, NULL);
}

/* Values of the frames: as many as the traces' lengths sum to. */
static const void *frame_values(const Record *record, int number, int word, const int64_t *lengths) {
    Group *group = NULL;
    const void *values = values_of(record, number, word, NULL, &group);
    if (!values || !record) return values;
    int64_t sum = 0, rows = record_rows(record);
    for (int64_t i = 0; i < rows; i++) sum += lengths[i];
    if (group->count == sum) return values;
    PyErr_Format(PyExc_ValueError, "column %d of type %lld does not fit the lengths", number,
                 (long long)record->type_id);
    return NULL;
}

typedef struct {
    int truncated, lengths, methods, types, lines, method_class, method_name, class_name, symbol, pooled;
    PyObject *trace, *method, *klass, *symbols, *pool;
} ColumnNumbers;

static bool parse_numbers(PyObject *trace, PyObject *method, PyObject *klass, PyObject *symbol, PyObject *pool,
                          ColumnNumbers *n) {
    memset(n, 0, sizeof *n);
    return PyArg_ParseTuple(trace, "Oiiiii", &n->trace, &n->truncated, &n->lengths, &n->methods, &n->types,
                            &n->lines) &&
           PyArg_ParseTuple(method, "Oii", &n->method, &n->method_class, &n->method_name) &&
           PyArg_ParseTuple(klass, "Oi", &n->klass, &n->class_name) &&
           PyArg_ParseTuple(symbol, "Oi", &n->symbols, &n->symbol) &&
           (pool == Py_None || PyArg_ParseTuple(pool, "Oi", &n->pool, &n->pooled));
}

static Record *record_of(const Decoder *decoder, PyObject *type) {
    int64_t type_id;
    return type && long_of(type, &type_id) > 0 ? chunk_record(&decoder->chunk, type_id) : NULL;
}

static bool set_columns(Decoder *decoder, const ColumnNumbers *n, TraceColumns *c) {
    c->trace = record_of(decoder, n->trace);
    c->method = record_of(decoder, n->method);
    c->klass = record_of(decoder, n->klass);
    c->symbol = record_of(decoder, n->symbols);
    c->pool = record_of(decoder, n->pool);
    if (PyErr_Occurred()) return false;
    if (n->pool && !c->pool) {
        PyErr_Format(PyExc_KeyError, "type %S has no program", n->pool);
        return false;
    }
    Record *records[] = {c->trace, c->method, c->klass, c->symbol, c->pool};
    for (int i = 0; i < 5; i++) {
        if (records[i] && !record_index(records[i])) {
            PyErr_NoMemory();
            return false;
        }
    }
    return (c->lengths = own_values(c->trace, n->lengths, ARRAY)) &&
           (n->truncated < 0 || (c->truncated = own_values(c->trace, n->truncated, BOOLEAN))) &&
           (c->methods = frame_values(c->trace, n->methods, LONG, c->lengths)) &&
           (n->types < 0 || (c->types = frame_values(c->trace, n->types, LONG, c->lengths))) &&
           (n->lines < 0 || (c->lines = frame_values(c->trace, n->lines, INT, c->lengths))) &&
           (c->method_classes = own_values(c->method, n->method_class, LONG)) &&
           (c->method_names = own_values(c->method, n->method_name, LONG)) &&
           (c->class_names = own_values(c->klass, n->class_name, LONG)) &&
           (c->symbols = own_values(c->symbol, n->symbol, STRING)) &&
           (!c->pool || (c->pooled = own_values(c->pool, n->pooled, STRING)));
}

/* While stacks live, the columns that they are made of must not move. */
static void pin(Stacks *self, int by) {
    TraceColumns *c = &self->traces.columns;
    Record *records[] = {c->trace, c->method, c->klass, c->symbol, c->pool};
    for (int i = 0; i < 5; i++)
        if (records[i]) records[i]->views += by;
    self->pinned = by > 0;
}

static bool set_kinds(Traces *traces, PyObject *kinds) {
    PyObject *items = PyMapping_Items(kinds);
    if (!items) return false;
    for (Py_ssize_t i = 0; i < PyList_Size(items); i++) {
        PyObject *pair = PyList_GetItem(items, i);
        int64_t key, kind;
        int key_fits = long_of(PyTuple_GetItem(pair, 0), &key);
        int kind_fits = long_of(PyTuple_GetItem(pair, 1), &kind);
        if (key_fits < 0 || kind_fits < 0) break;
        if (!kind_fits || kind < 0 || kind > 255) {
            PyErr_SetString(PyExc_ValueError, "kinds are numbers from 0 to 255");
        } else if (key_fits && !traces_set_kind(traces, key, (uint8_t)kind)) {
            PyErr_NoMemory();
        }
        if (PyErr_Occurred()) break;
    }
    Py_DECREF(items);
    return !PyErr_Occurred();
}

static int stacks_init(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"decoder", "trace", "method", "klass", "symbol", "pool", "kinds", NULL};
    Stacks *self = (Stacks *)object;
    PyObject *decoder, *trace, *method, *klass, *symbol, *pool, *kinds;
    ColumnNumbers numbers;
    NativeState *state = native_state(object);
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OOOOOO:Stacks", names, state->decoder, &decoder, &trace,
                                     &method, &klass, &symbol, &pool, &kinds))
        return -1;
    if (self->decoder) {
        PyErr_SetString(PyExc_RuntimeError, "stacks are made once");
        return -1;
    }
    if (!set_kinds(&self->traces, kinds) || !parse_numbers(trace, method, klass, symbol, pool, &numbers)) return -1;
    if (!is_free(&((Decoder *)decoder)->busy)) return -1;
    if (!((Decoder *)decoder)->has_data) {
        PyErr_SetString(PyExc_RuntimeError, "a decoder without data");
        return -1;
    }
    if (!set_columns((Decoder *)decoder, &numbers, &self->traces.columns)) {
        memset(&self->traces.columns, 0, sizeof self->traces.columns);
        return -1;
    }
    pin(self, 1);
    self->decoder = (Decoder *)Py_NewRef(decoder);
    if (traces_start(&self->traces)) return 0;
    PyErr_NoMemory();
    return -1;
}

static void stacks_dealloc(PyObject *object) {
    Stacks *self = (Stacks *)object;
    PyTypeObject *type = Py_TYPE(object);
    if (self->pinned) pin(self, -1);
    traces_clear(&self->traces);
    free(self->rows);
    Py_XDECREF((PyObject *)self->decoder);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

bool stacks_ready(const Stacks *self) {
    if (self->traces.tree.count) return is_free(&self->busy);
    PyErr_SetString(PyExc_RuntimeError, "stacks without a decoder");
    return false;
}

static PyObject *stacks_nodes(PyObject *object, PyObject *given) {
    Stacks *self = (Stacks *)object;
    NativeState *state = native_state(object);
    Numbers keys;
    void *nodes, *flags;
    if (!numbers_get(given, 8, &keys)) return NULL;
    PyObject *result = NULL;
    PyObject *node_view = numbers_new(state, keys.count, 'i', &nodes);
    PyObject *flag_view = node_view ? numbers_new(state, keys.count, 'B', &flags) : NULL;
    if (flag_view && stacks_ready(self) && enter(&self->busy)) {
        bool good;
        Py_BEGIN_ALLOW_THREADS good = traces_nodes(&self->traces, keys.bytes, keys.count, nodes, flags);
        Py_END_ALLOW_THREADS self->busy = false;
        result = good ? PyTuple_Pack(2, node_view, flag_view) : PyErr_NoMemory();
    }
    Py_XDECREF(node_view);
    Py_XDECREF(flag_view);
    numbers_release(&keys);
    return result;
}

static PyObject *stacks_size(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Stacks *self = (Stacks *)object;
    return stacks_ready(self) ? PyLong_FromLong(self->traces.tree.count) : NULL;
}

/* How often the nodes' frames are met, by local frame. NULL with an exception set. */
static int64_t *count_frames(const Traces *traces, const Numbers *nodes) {
    int64_t *often = calloc((size_t)traces->frame_count + 1, sizeof *often);
    if (!often) PyErr_NoMemory();
    for (int64_t i = 0; often && i < nodes->count; i++) {
        int32_t node = int_at(nodes->bytes, i);
        if (node > 0 && node < traces->tree.count) {
            often[traces->tree.frames[node]]++;
        } else if (node) {
            PyErr_Format(PyExc_IndexError, "node %d is not there", (int)node);
            free(often);
            often = NULL;
        }
    }
    return often;
}

/* Adds (class, method) of a frame to a dict of counts. */
static bool add_leaf(PyObject *counts, FrameTexts *texts, const LocalFrame *frame, int64_t often) {
    int32_t klass, method;
    if (!frame_texts_of(texts, frame, &klass, &method)) return false;
    PyObject *class_object = klass < 0 ? PyUnicode_FromString("") : texts_object(texts->texts, klass);
    PyObject *method_object = method < 0 ? PyUnicode_FromString("") : texts_object(texts->texts, method);
    PyObject *key = class_object && method_object ? PyTuple_Pack(2, class_object, method_object) : NULL;
    PyObject *before = key ? PyDict_GetItemWithError(counts, key) : NULL;
    PyObject *sum = PyErr_Occurred() ? NULL : PyLong_FromLongLong(often + (before ? PyLong_AsLongLong(before) : 0));
    bool good = key && sum && PyDict_SetItem(counts, key, sum) == 0;
    Py_XDECREF(sum);
    Py_XDECREF(key);
    Py_XDECREF(class_object);
    Py_XDECREF(method_object);
    return good;
}

/* The items of a dict of counts, most frequent first, then by class and method. */
static PyObject *sorted_leaves(PyObject *counts) {
    PyObject *leaves = PyList_New(0), *key, *often;
    Py_ssize_t at = 0;
    while (leaves && PyDict_Next(counts, &at, &key, &often)) {
        PyObject *leaf =
            Py_BuildValue("(LOO)", -PyLong_AsLongLong(often), PyTuple_GetItem(key, 0), PyTuple_GetItem(key, 1));
        if (!leaf || PyList_Append(leaves, leaf) < 0) Py_CLEAR(leaves);
        Py_XDECREF(leaf);
    }
    if (leaves && PyList_Sort(leaves) < 0) Py_CLEAR(leaves);
    for (Py_ssize_t i = 0; leaves && i < PyList_Size(leaves); i++) {
        PyObject *item = PyList_GetItem(leaves, i);
        long long count = -PyLong_AsLongLong(PyTuple_GetItem(item, 0));
        PyObject *leaf = Py_BuildValue("(OOL)", PyTuple_GetItem(item, 1), PyTuple_GetItem(item, 2), count);
        if (!leaf || PyList_SetItem(leaves, i, leaf) < 0) Py_CLEAR(leaves);
    }
    return leaves;
}

static PyObject *stacks_leaves(PyObject *object, PyObject *given) {
    Stacks *self = (Stacks *)object;
    Numbers nodes;
    if (!numbers_get(given, 4, &nodes)) return NULL;
    PyObject *result = NULL;
    if (stacks_ready(self) && enter(&self->busy)) {
        Traces *traces = &self->traces;
        Texts texts = {0};
        FrameTexts frame_texts = {0};
        int64_t *often = count_frames(traces, &nodes);
        PyObject *counts = often ? PyDict_New() : NULL;
        bool good = counts && frame_texts_start(&frame_texts, &texts, self);
        for (int32_t i = 0; good && i < traces->frame_count; i++)
            if (often[i] && traces->frames[i].kind != KIND_OF_TRUNCATED)
                good = add_leaf(counts, &frame_texts, &traces->frames[i], often[i]);
        if (good) result = sorted_leaves(counts);
        Py_XDECREF(counts);
        frame_texts_clear(&frame_texts);
        texts_clear(&texts);
        free(often);
        self->busy = false;
    }
    numbers_release(&nodes);
    return result;
}

static PyMethodDef stacks_methods[] = {
    {"nodes", stacks_nodes, METH_O, NULL},
    {"size", stacks_size, METH_NOARGS, NULL},
    {"leaves", stacks_leaves, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot stacks_slots[] = {
    {Py_tp_init, stacks_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, stacks_dealloc},
    {Py_tp_methods, stacks_methods},
    {0, NULL},
};

PyType_Spec stacks_spec = {
    .name = "emberscope.kernel._native.Stacks",
    .basicsize = sizeof(Stacks),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = stacks_slots,
};
