/* emberscope.kernel._native.Lines */
#include "native.h"

#include <stdlib.h>

#include "lines.h"

typedef struct {
    PyObject_HEAD Kind *kinds;
    Py_ssize_t kind_count;
} Lines;

static void kind_clear(Kind *kind) {
    for (int i = 0; kind->nodes && i < kind->node_count; i++) {
        for (int j = 0; kind->nodes[i].members && j < kind->nodes[i].count; j++) {
            free(kind->nodes[i].members[j].key);
            free(kind->nodes[i].members[j].text);
        }
        free(kind->nodes[i].members);
    }
    free(kind->nodes);
    free(kind->row);
    free(kind->prefix);
}

static void lines_dealloc(PyObject *object) {
    Lines *self = (Lines *)object;
    PyTypeObject *type = Py_TYPE(object);
    for (Py_ssize_t i = 0; i < self->kind_count; i++) kind_clear(&self->kinds[i]);
    free(self->kinds);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

/* A copy of bytes, at least one byte long. */
static uint8_t *copy(const char *bytes, Py_ssize_t length) {
    uint8_t *memory = malloc((size_t)length + 1);
    if (!memory) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(memory, bytes, (size_t)length);
    memory[length] = 0;
    return memory;
}

static void *zeros(Py_ssize_t count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) PyErr_NoMemory();
    return memory;
}

static bool bad_program(const char *what) {
    PyErr_SetString(PyExc_ValueError, what);
    return false;
}

/* (key, action, column, node, text, required) */
static bool member_fill(Member *member, const Kind *kind, PyObject *tuple, bool *required) {
    const char *key, *text;
    Py_ssize_t key_length, text_length;
    int action, column, node, is_required;
    if (!PyTuple_Check(tuple)) return bad_program("a member is a tuple");
    if (!PyArg_ParseTuple(tuple, "y#iiiy#p", &key, &key_length, &action, &column, &node, &text, &text_length,
                          &is_required))
        return false;
    if (action < 0 || action >= ACTIONS) return bad_program("no such action");
    if (key_length < 3 || key_length > UINT16_MAX || text_length > UINT16_MAX) return bad_program("a bad key or text");
    if (action == TAKE_OBJECT ? node < 1 || node >= kind->node_count : node != 0) return bad_program("no such node");
    bool fits = column < kind->width && column != 0 && column >= -1;
    if (!fits || (action > TAKE_ZERO && column != -1)) return bad_program("no such column");
    member->key = copy(key, key_length);
    member->text = member->key ? copy(text, text_length) : NULL;
    member->key_length = (uint32_t)key_length;
    member->text_length = (uint32_t)text_length;
    member->action = (Action)action;
    member->column = column;
    member->node = node;
    *required = is_required;
    return member->text != NULL;
}

static bool node_fill(Node *node, const Kind *kind, PyObject *sequence) {
    PyObject *members = PySequence_Tuple(sequence);
    if (!members) return false;
    Py_ssize_t count = PyTuple_Size(members);
    bool good = count <= MOST_MEMBERS || bad_program("too many members");
    if (good) good = (node->members = zeros(count, sizeof(Member))) != NULL;
    for (Py_ssize_t i = 0; good && i < count; i++) {
        bool required = false;
        node->count = (int32_t)i + 1;
        good = member_fill(&node->members[i], kind, PyTuple_GetItem(members, i), &required);
        if (required) node->required |= UINT64_C(1) << i;
    }
    Py_DECREF(members);
    return good;
}

/* (prefix, row, nodes) */
static bool kind_fill(Kind *kind, PyObject *tuple) {
    const char *prefix;
    Py_ssize_t prefix_length;
    PyObject *row, *sequence;
    Numbers numbers;
    if (!PyTuple_Check(tuple)) return bad_program("a kind is a tuple");
    if (!PyArg_ParseTuple(tuple, "y#OO", &prefix, &prefix_length, &row, &sequence)) return false;
    if (prefix_length < 2) return bad_program("a prefix is within an object");
    kind->prefix = copy(prefix, prefix_length);
    kind->prefix_length = (size_t)prefix_length;
    if (!kind->prefix || !numbers_get(row, 8, &numbers)) return false;
    bool good = (numbers.count > 0 && numbers.count < 10000) || bad_program("no columns, or too many");
    if (good) good = (kind->row = zeros((Py_ssize_t)numbers.count, sizeof(int64_t))) != NULL;
    if (good) {
        memcpy(kind->row, numbers.bytes, (size_t)numbers.count * sizeof(int64_t));
        kind->width = (int32_t)numbers.count;
    }
    numbers_release(&numbers);
    PyObject *nodes = good ? PySequence_Tuple(sequence) : NULL;
    if (!nodes) return false;
    Py_ssize_t count = PyTuple_Size(nodes);
    good = (count > 0 && count <= MOST_NODES) || bad_program("no nodes, or too many");
    if (good) good = (kind->nodes = zeros(count, sizeof(Node))) != NULL;
    if (good) kind->node_count = (int32_t)count;
    for (Py_ssize_t i = 0; good && i < count; i++)
        good = node_fill(&kind->nodes[i], kind, PyTuple_GetItem(nodes, i));
    Py_DECREF(nodes);
    return good;
}

static int lines_init(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"kinds", NULL};
    Lines *self = (Lines *)object;
    PyObject *sequence;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "O:Lines", names, &sequence)) return -1;
    if (self->kinds) {
        PyErr_SetString(PyExc_RuntimeError, "a reader of lines is made once");
        return -1;
    }
    PyObject *kinds = PySequence_Tuple(sequence);
    if (!kinds) return -1;
    Py_ssize_t count = PyTuple_Size(kinds);
    bool good = count <= 16 || bad_program("too many kinds");
    if (good) good = (self->kinds = zeros(count, sizeof(Kind))) != NULL;
    if (good) self->kind_count = count;
    for (Py_ssize_t i = 0; good && i < count; i++) good = kind_fill(&self->kinds[i], PyTuple_GetItem(kinds, i));
    Py_DECREF(kinds);
    return good ? 0 : -1;
}

static PyObject *view_of(NativeState *state, const Longs *longs) {
    void *values;
    PyObject *view = numbers_new(state, (int64_t)longs->count, 'q', &values);
    if (view && longs->count) memcpy(values, longs->values, longs->count * sizeof(int64_t));
    return view;
}

/* (number of lines, rows of each kind, texts, others) */
static PyObject *result(NativeState *state, Py_ssize_t kind_count, const Found *found) {
    PyObject *rows = PyList_New(kind_count), *texts = PyList_New(found->text_count);
    PyObject *others = view_of(state, &found->others);
    bool good = rows && texts && others;
    for (Py_ssize_t i = 0; good && i < kind_count; i++) {
        PyObject *view = view_of(state, &found->rows[i]);
        good = view && PyList_SetItem(rows, i, view) == 0;
    }
    for (int32_t i = 0; good && i < found->text_count; i++) {
        PyObject *text =
            PyUnicode_FromStringAndSize((const char *)found->texts[i].start, (Py_ssize_t)found->texts[i].length);
        good = text && PyList_SetItem(texts, i, text) == 0;
    }
    PyObject *tuple = good ? Py_BuildValue("LOOO", (long long)found->line_count, rows, texts, others) : NULL;
    Py_XDECREF(rows);
    Py_XDECREF(texts);
    Py_XDECREF(others);
    return tuple;
}

static PyObject *lines_scan_text(PyObject *object, PyObject *text) {
    Lines *self = (Lines *)object;
    char *bytes;
    Py_ssize_t length;
    if (PyBytes_AsStringAndSize(text, &bytes, &length) < 0) return NULL;
    Found found = {.texts = malloc(MOST_TEXTS * sizeof *found.texts),
                   .rows = calloc((size_t)self->kind_count + 1, sizeof(Longs))};
    bool good = found.texts && found.rows;
    Py_BEGIN_ALLOW_THREADS;
    good = good && lines_scan(self->kinds, (size_t)self->kind_count, (const uint8_t *)bytes, (size_t)length, &found);
    Py_END_ALLOW_THREADS;
    PyObject *tuple = good ? result(native_state(object), self->kind_count, &found) : PyErr_NoMemory();
    for (Py_ssize_t i = 0; found.rows && i < self->kind_count; i++) free(found.rows[i].values);
    free(found.rows);
    free(found.texts);
    free(found.others.values);
    return tuple;
}

static PyMethodDef lines_methods[] = {
    {"scan", lines_scan_text, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot lines_slots[] = {
    {Py_tp_init, lines_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, lines_dealloc},
    {Py_tp_methods, lines_methods},
    {0, NULL},
};

PyType_Spec lines_spec = {
    .name = "emberscope.kernel._native.Lines",
    .basicsize = sizeof(Lines),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = lines_slots,
};
