/* emberscope.kernel._native.Tree */
#include "texts.h"

#include <stdlib.h>

typedef struct {
    PyObject_HEAD bool busy;
    Prefix tree;
    Texts texts;
    Index pairs;     /* (class, method) of texts to numbers */
    Index rows[256]; /* by kind: (pair, line) to rows of the two lists below */
    int32_t truncated_row;
    int32_t *ids;     /* of frames; -1: not learned */
    uint32_t *listed; /* in which call a frame without id was told last */
    int32_t row_count, row_capacity;
    uint32_t call;
    uint64_t number; /* no other tree has it */
} Tree;

static int tree_init(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {NULL};
    Tree *self = (Tree *)object;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, ":Tree", names)) return -1;
    if (self->tree.count) {
        PyErr_SetString(PyExc_RuntimeError, "a tree is made once");
        return -1;
    }
    static uint64_t trees;
    self->number = ++trees;
    self->truncated_row = -1;
    if (prefix_start(&self->tree)) return 0;
    prefix_clear(&self->tree);
    PyErr_NoMemory();
    return -1;
}

static void tree_dealloc(PyObject *object) {
    Tree *self = (Tree *)object;
    PyTypeObject *type = Py_TYPE(object);
    prefix_clear(&self->tree);
    texts_clear(&self->texts);
    index_clear(&self->pairs);
    for (int i = 0; i < 256; i++) index_clear(&self->rows[i]);
    free(self->ids);
    free(self->listed);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(object);
    Py_DECREF(type);
}

static Tree *ready(PyObject *object) {
    Tree *self = (Tree *)object;
    if (self->tree.count) return is_free(&self->busy) ? self : NULL;
    PyErr_SetString(PyExc_RuntimeError, "a tree that was not made");
    return NULL;
}

/* A row for a new frame. -1 with an exception set. */
static int32_t new_row(Tree *self) {
    if (self->row_count == self->row_capacity) {
        int32_t capacity = self->row_capacity ? self->row_capacity * 2 : 64;
        size_t count = (size_t)capacity;
        int32_t *ids = self->row_capacity > INT32_MAX / 2 ? NULL : realloc(self->ids, count * sizeof *ids);
        if (ids) self->ids = ids;
        uint32_t *listed = ids ? realloc(self->listed, count * sizeof *listed) : NULL;
        if (!listed) {
            PyErr_NoMemory();
            return -1;
        }
        self->listed = listed;
        self->row_capacity = capacity;
    }
    self->ids[self->row_count] = -1;
    self->listed[self->row_count] = 0;
    return self->row_count++;
}

static int64_t two(int32_t high, int32_t low) { return (int64_t)((uint64_t)(uint32_t)high << 32 | (uint32_t)low); }

/* The number of a key, a new one where it has none. -1: out of memory. */
static int32_t number_of(Index *index, int64_t key) {
    int32_t found = index_find(index, key);
    if (found >= 0 || index->used > INT32_MAX) return found;
    found = (int32_t)index->used;
    return index_put(index, key, found) ? found : -1;
}

/* The row of a local frame: one for all that are equal in class, method, kind and line. -1 with an exception set. */
static int32_t row_of_frame(Tree *self, FrameTexts *texts, const LocalFrame *frame) {
    if (frame->kind == KIND_OF_TRUNCATED) {
        if (self->truncated_row < 0) self->truncated_row = new_row(self);
        return self->truncated_row;
    }
    int32_t klass, method;
    if (!frame_texts_of(texts, frame, &klass, &method)) return -1;
    int32_t pair = number_of(&self->pairs, two(klass, method));
    if (pair >= 0) {
        Index *rows = &self->rows[frame->kind];
        int32_t row = index_find(rows, two(pair, frame->line));
        if (row >= 0) return row;
        row = new_row(self);
        if (row < 0 || index_put(rows, two(pair, frame->line), row)) return row;
    }
    PyErr_NoMemory();
    return -1;
}

/* Rows of all local frames, kept with the stacks for the next call. NULL with an exception set. */
static const int32_t *rows_of(Tree *self, Stacks *stacks) {
    int32_t count = stacks->traces.frame_count;
    if (stacks->tree_number != self->number) stacks->row_count = 0;
    stacks->tree_number = self->number;
    if (stacks->row_count == count && stacks->rows) return stacks->rows;
    if (stacks->row_capacity < count || !stacks->rows) {
        int32_t *rows = realloc(stacks->rows, ((size_t)count + 1) * sizeof *rows);
        if (!rows) return (int32_t *)PyErr_NoMemory();
        stacks->rows = rows;
        stacks->row_capacity = count;
    }
    FrameTexts texts;
    bool good = frame_texts_start(&texts, &self->texts, stacks);
    for (; good && stacks->row_count < count; stacks->row_count += good) {
        int32_t row = row_of_frame(self, &texts, &stacks->traces.frames[stacks->row_count]);
        stacks->rows[stacks->row_count] = row;
        good = row >= 0;
    }
    frame_texts_clear(&texts);
    return good ? stacks->rows : NULL;
}

static PyObject *frame_object(FrameTexts *texts, int32_t local, const LocalFrame *frame) {
    int32_t klass, method;
    if (!frame_texts_of(texts, frame, &klass, &method)) return NULL;
    PyObject *class_object = texts_object(texts->texts, klass);
    PyObject *method_object = class_object ? texts_object(texts->texts, method) : NULL;
    if (method_object)
        return Py_BuildValue("(iNNii)", (int)local, class_object, method_object, (int)frame->kind, (int)frame->line);
    Py_XDECREF(class_object);
    return NULL;
}

/* The stacks of an argument, held as busy along with the tree. NULL with an exception set. */
static Stacks *enter_both(Tree *self, PyObject *object) {
    Stacks *stacks = (Stacks *)object;
    if (!PyObject_TypeCheck(object, native_state((PyObject *)self)->stacks)) {
        PyErr_SetString(PyExc_TypeError, "stacks are wanted");
        return NULL;
    }
    if (!stacks_ready(stacks)) return NULL;
    if (!enter(&self->busy)) return NULL;
    stacks->busy = true;
    return stacks;
}

static void leave_both(Tree *self, Stacks *stacks) { self->busy = stacks->busy = false; }

static PyObject *tree_unknown(PyObject *object, PyObject *argument) {
    Tree *self = ready(object);
    Stacks *stacks = self ? enter_both(self, argument) : NULL;
    if (!stacks) return NULL;
    FrameTexts texts = frame_texts_without_memory(&self->texts, stacks);
    const int32_t *rows = rows_of(self, stacks);
    PyObject *unknown = rows ? PyList_New(0) : NULL;
    self->call++;
    for (int32_t i = 0; unknown && i < stacks->traces.frame_count; i++) {
        int32_t row = rows[i];
        if (self->ids[row] >= 0 || self->listed[row] == self->call) continue;
        self->listed[row] = self->call;
        PyObject *item = frame_object(&texts, i, &stacks->traces.frames[i]);
        if (!item || PyList_Append(unknown, item) < 0) Py_CLEAR(unknown);
        Py_XDECREF(item);
    }
    leave_both(self, stacks);
    return unknown;
}

static PyObject *tree_learn(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"stacks", "local_frame", "frame", NULL};
    PyObject *argument;
    Py_ssize_t local, frame;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Onn:learn", names, &argument, &local, &frame)) return NULL;
    if (frame < 0 || frame > INT32_MAX) return PyErr_Format(PyExc_ValueError, "%zd is no frame's id", frame);
    Tree *self = ready(object);
    Stacks *stacks = self ? enter_both(self, argument) : NULL;
    if (!stacks) return NULL;
    const int32_t *rows = NULL;
    if (local < 0 || local >= stacks->traces.frame_count) {
        PyErr_Format(PyExc_IndexError, "local frame %zd is not there", local);
    } else {
        rows = rows_of(self, stacks);
    }
    if (rows) self->ids[rows[local]] = (int32_t)frame;
    leave_both(self, stacks);
    return rows ? Py_NewRef(Py_None) : NULL;
}

/* Ids of all local frames. NULL with an exception set. */
static int32_t *ids_of(Tree *self, Stacks *stacks) {
    int32_t count = stacks->traces.frame_count;
    const int32_t *rows = rows_of(self, stacks);
    if (!rows) return NULL;
    int32_t *ids = malloc(((size_t)count + 1) * sizeof *ids);
    if (!ids) return (int32_t *)PyErr_NoMemory();
    for (int32_t i = 0; i < count; i++) {
        ids[i] = self->ids[rows[i]];
        if (ids[i] >= 0) continue;
        PyErr_Format(PyExc_KeyError, "local frame %d has no id", (int)i);
        free(ids);
        return NULL;
    }
    return ids;
}

static bool graft(Prefix *tree, const Prefix *from, const int32_t *ids, int32_t *nodes) {
    nodes[0] = 0;
    for (int32_t i = 1; i < from->count; i++) {
        nodes[i] = prefix_child(tree, nodes[from->parents[i]], ids[from->frames[i]]);
        if (nodes[i] < 0) return false;
    }
    return true;
}

static PyObject *tree_graft(PyObject *object, PyObject *argument) {
    Tree *self = ready(object);
    Stacks *stacks = self ? enter_both(self, argument) : NULL;
    if (!stacks) return NULL;
    void *nodes;
    int32_t *ids = ids_of(self, stacks);
    PyObject *result = ids ? numbers_new(native_state(object), stacks->traces.tree.count, 'i', &nodes) : NULL;
    if (result) {
        bool good;
        Py_BEGIN_ALLOW_THREADS good = graft(&self->tree, &stacks->traces.tree, ids, nodes);
        Py_END_ALLOW_THREADS if (!good) {
            PyErr_NoMemory();
            Py_CLEAR(result);
        }
    }
    free(ids);
    leave_both(self, stacks);
    return result;
}

static int32_t child_of(Tree *self, long long parent, long long frame) {
    if (parent < 0 || parent >= self->tree.count) {
        PyErr_Format(PyExc_IndexError, "node %lld is not there", parent);
        return -1;
    }
    if (frame < 0 || frame > INT32_MAX) {
        PyErr_Format(PyExc_ValueError, "%lld is no frame's id", frame);
        return -1;
    }
    int32_t node = prefix_child(&self->tree, (int32_t)parent, (int32_t)frame);
    if (node < 0) PyErr_NoMemory();
    return node;
}

static PyObject *tree_child(PyObject *object, PyObject *args, PyObject *keywords) {
    static char *names[] = {"parent", "frame", NULL};
    Py_ssize_t parent, frame;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "nn:child", names, &parent, &frame)) return NULL;
    Tree *self = ready(object);
    int32_t node = self ? child_of(self, parent, frame) : -1;
    return node < 0 ? NULL : PyLong_FromLong(node);
}

static PyObject *tree_node(PyObject *object, PyObject *frames_root_first) {
    PyObject *frames = PySequence_Tuple(frames_root_first);
    Tree *self = frames ? ready(object) : NULL;
    int32_t node = self ? 0 : -1;
    for (Py_ssize_t i = 0; node >= 0 && i < PyTuple_Size(frames); i++) {
        int64_t frame;
        int fits = long_of(PyTuple_GetItem(frames, i), &frame);
        node = fits < 0 ? -1 : child_of(self, node, fits ? frame : -1);
    }
    Py_XDECREF(frames);
    return node < 0 ? NULL : PyLong_FromLong(node);
}

static PyObject *tree_size(PyObject *object, PyObject *ignored) {
    (void)ignored;
    Tree *self = ready(object);
    return self ? PyLong_FromLong(self->tree.count) : NULL;
}

static PyObject *copied(PyObject *object, bool frames) {
    Tree *self = ready(object);
    void *values;
    PyObject *copy = self ? numbers_new(native_state(object), self->tree.count, 'i', &values) : NULL;
    if (copy)
        memcpy(values, frames ? self->tree.frames : self->tree.parents, (size_t)self->tree.count * sizeof(int32_t));
    return copy;
}

static PyObject *tree_parents(PyObject *object, PyObject *ignored) {
    (void)ignored;
    return copied(object, false);
}

static PyObject *tree_frames(PyObject *object, PyObject *ignored) {
    (void)ignored;
    return copied(object, true);
}

static PyMethodDef tree_methods[] = {
    {"unknown", tree_unknown, METH_O, NULL},
    {"learn", (PyCFunction)(void (*)(void))tree_learn, METH_VARARGS | METH_KEYWORDS, NULL},
    {"graft", tree_graft, METH_O, NULL},
    {"child", (PyCFunction)(void (*)(void))tree_child, METH_VARARGS | METH_KEYWORDS, NULL},
    {"node", tree_node, METH_O, NULL},
    {"size", tree_size, METH_NOARGS, NULL},
    {"parents", tree_parents, METH_NOARGS, NULL},
    {"frames", tree_frames, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot tree_slots[] = {
    {Py_tp_init, tree_init},
    {Py_tp_new, PyType_GenericNew},
    {Py_tp_dealloc, tree_dealloc},
    {Py_tp_methods, tree_methods},
    {0, NULL},
};

PyType_Spec tree_spec = {
    .name = "emberscope.kernel._native.Tree",
    .basicsize = sizeof(Tree),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = tree_slots,
};
