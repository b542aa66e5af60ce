/* A call tree as folded text. */
#include "native.h"

#include <stdlib.h>

typedef struct {
    const char *bytes;
    size_t length;
} Name;

typedef struct {
    int64_t through; /* weight of the node and all below */
    const Name *name;
    int32_t node;
} Sibling;

typedef struct {
    int32_t count;
    const uint8_t *parents, *frames, *weights;
    const Name *names;
    int64_t name_count;
    Sibling *siblings; /* those with weight, grouped by parent, each group in order */
    int32_t *first;    /* of a node's children among them; one more than nodes */
    int64_t *through;
} Folding;

static int in_order(const void *a, const void *b) {
    const Sibling *x = a, *y = b;
    if (x->through != y->through) return x->through < y->through ? 1 : -1;
    size_t least = x->name->length < y->name->length ? x->name->length : y->name->length;
    int by_name = least ? memcmp(x->name->bytes, y->name->bytes, least) : 0;
    if (by_name) return by_name;
    if (x->name->length != y->name->length) return x->name->length < y->name->length ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

/* Whether the tree is one. False with an exception set. */
static bool checked(const Folding *f) {
    for (int32_t i = 0; i < f->count; i++) {
        int32_t parent = int_at(f->parents, i), frame = int_at(f->frames, i);
        if (long_at(f->weights, i) < 0) {
            PyErr_Format(PyExc_ValueError, "node %d has a negative weight", (int)i);
        } else if (i && (parent < 0 || parent >= i)) {
            PyErr_Format(PyExc_ValueError, "node %d has an impossible parent", (int)i);
        } else if (i && (frame < 0 || frame >= f->name_count)) {
            PyErr_Format(PyExc_IndexError, "node %d has a frame without a name", (int)i);
        } else {
            continue;
        }
        return false;
    }
    return true;
}

static void order(Folding *f) {
    memset(f->first, 0, ((size_t)f->count + 2) * sizeof *f->first);
    for (int32_t i = 0; i < f->count; i++) f->through[i] = long_at(f->weights, i);
    for (int32_t i = f->count - 1; i > 0; i--) {
        int64_t *sum = &f->through[int_at(f->parents, i)];
        *sum = *sum > INT64_MAX - f->through[i] ? INT64_MAX : *sum + f->through[i];
        if (f->through[i]) f->first[int_at(f->parents, i) + 2]++;
    }
    for (int32_t i = 0; i < f->count; i++) f->first[i + 2] += f->first[i + 1];
    for (int32_t i = 1; i < f->count; i++) /* afterwards first[i + 1] is where the children of i end */
        if (f->through[i])
            f->siblings[f->first[int_at(f->parents, i) + 1]++] =
                (Sibling){f->through[i], &f->names[int_at(f->frames, i)], i};
    for (int32_t i = 0; i < f->count; i++) {
        int32_t count = f->first[i + 1] - f->first[i];
        if (count > 1) qsort(f->siblings + f->first[i], (size_t)count, sizeof *f->siblings, in_order);
    }
}

static size_t write_number(char *out, int64_t number) {
    char digits[20];
    size_t count = 0;
    do digits[count++] = (char)('0' + number % 10);
    while (number /= 10);
    for (size_t i = 0; out && i < count; i++) out[i] = digits[count - 1 - i];
    return count;
}

static const char NO_STACK[] = "[no stack] ";

/* How long the text will be, and the longest stack and the deepest of it. False: beyond all memory. */
static bool measure(const Folding *f, size_t *lengths, int32_t *depths, size_t *total, size_t *longest,
                    int32_t *deepest) {
    *total = *longest = 0;
    *deepest = 0;
    for (int32_t i = 0; i < f->count; i++) {
        int32_t parent = i ? int_at(f->parents, i) : 0;
        lengths[i] = i ? lengths[parent] + (parent > 0) + f->names[int_at(f->frames, i)].length : 0;
        depths[i] = i ? depths[parent] + 1 : 0;
        int64_t weight = long_at(f->weights, i);
        if (lengths[i] > *longest) *longest = lengths[i];
        if (depths[i] > *deepest) *deepest = depths[i];
        if (weight) *total += (i ? lengths[i] + 1 : sizeof NO_STACK - 1) + write_number(NULL, weight) + 1;
        if (*total > PY_SSIZE_T_MAX / 2 || lengths[i] > PY_SSIZE_T_MAX / 2) return false;
    }
    return true;
}

/* Depth first; `line` holds the stack of the node at hand, `todo` for each depth the next sibling. */
static void write_text(const Folding *f, const size_t *lengths, char *line, int32_t *todo, char *out) {
    int32_t depth = 0, node = 0;
    int64_t weight = long_at(f->weights, 0);
    if (weight) {
        memcpy(out, NO_STACK, sizeof NO_STACK - 1);
        out += sizeof NO_STACK - 1;
        out += write_number(out, weight);
        *out++ = '\n';
    }
    todo[0] = f->first[0];
    for (;;) {
        if (todo[depth] == f->first[node + 1]) {
            if (!depth--) return;
            node = int_at(f->parents, node);
            continue;
        }
        const Sibling *next = &f->siblings[todo[depth]++];
        char *end = line + lengths[node];
        if (node) *end++ = ';';
        if (next->name->length) memcpy(end, next->name->bytes, next->name->length);
        node = next->node;
        todo[++depth] = f->first[node];
        weight = long_at(f->weights, node);
        if (!weight) continue;
        memcpy(out, line, lengths[node]);
        out += lengths[node];
        *out++ = ' ';
        out += write_number(out, weight);
        *out++ = '\n';
    }
}

static PyObject *fold(Folding *f) {
    if (!checked(f)) return NULL;
    if (!f->count) return PyBytes_FromStringAndSize("", 0);
    size_t count = (size_t)f->count, total = 0, longest = 0;
    int32_t deepest = 0;
    bool good;
    PyObject *text = NULL;
    size_t *lengths = malloc(count * sizeof *lengths);
    int32_t *depths = malloc(count * sizeof *depths), *todo = NULL;
    char *line = NULL;
    f->siblings = malloc(count * sizeof *f->siblings);
    f->first = malloc((count + 2) * sizeof *f->first);
    f->through = malloc(count * sizeof *f->through);
    good = lengths && depths && f->siblings && f->first && f->through;
    if (good) {
        Py_BEGIN_ALLOW_THREADS good = measure(f, lengths, depths, &total, &longest, &deepest);
        if (good) order(f);
        Py_END_ALLOW_THREADS
    }
    if (good) {
        line = malloc(longest + 2);
        todo = malloc(((size_t)deepest + 2) * sizeof *todo);
        good = line && todo;
        text = good ? PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total) : NULL;
    }
    if (text) {
        char *out = PyBytes_AsString(text);
        Py_BEGIN_ALLOW_THREADS write_text(f, lengths, line, todo, out);
        Py_END_ALLOW_THREADS
    } else if (!good) {
        PyErr_NoMemory();
    }
    free(lengths);
    free(depths);
    free(todo);
    free(line);
    free(f->siblings);
    free(f->first);
    free(f->through);
    return text;
}

/* The names in UTF-8; `held` keeps their memory. NULL with an exception set. */
static Name *names_of(PyObject *sequence, PyObject **held, int64_t *count) {
    PyObject *given = PySequence_Tuple(sequence);
    *held = given ? PyList_New(0) : NULL;
    Py_ssize_t length = given ? PyTuple_Size(given) : 0;
    Name *names = *held ? malloc(((size_t)length + 1) * sizeof *names) : NULL;
    if (*held && !names) PyErr_NoMemory();
    bool good = names && PyList_Append(*held, given) == 0;
    for (Py_ssize_t i = 0; good && i < length; i++) {
        PyObject *name = PyTuple_GetItem(given, i);
        Py_ssize_t size;
        names[i].bytes = PyUnicode_AsUTF8AndSize(name, &size);
        if (!names[i].bytes && PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) { /* lone surrogates */
            PyErr_Clear();
            PyObject *encoded = PyUnicode_AsEncodedString(name, "utf-8", "replace");
            char *bytes;
            if (encoded && PyBytes_AsStringAndSize(encoded, &bytes, &size) == 0 && PyList_Append(*held, encoded) == 0)
                names[i].bytes = bytes;
            Py_XDECREF(encoded);
        }
        good = names[i].bytes;
        names[i].length = (size_t)size;
    }
    Py_XDECREF(given);
    *count = length;
    if (good) return names;
    free(names);
    Py_CLEAR(*held);
    return NULL;
}

PyObject *folded(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *keys[] = {"parents", "frames", "weights", "names", NULL};
    static const size_t widths[] = {4, 4, 8};
    PyObject *given[4], *held, *result = NULL;
    Numbers numbers[3];
    int taken = 0;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "OOOO:folded", keys, &given[0], &given[1], &given[2], &given[3]))
        return NULL;
    while (taken < 3 && numbers_get(given[taken], widths[taken], &numbers[taken])) taken++;
    if (taken == 3 && (numbers[0].count != numbers[1].count || numbers[0].count != numbers[2].count)) {
        PyErr_SetString(PyExc_ValueError, "columns of different length");
    } else if (taken == 3 && numbers[0].count > INT32_MAX - 2) {
        PyErr_NoMemory();
    } else if (taken == 3) {
        int64_t name_count;
        Name *names = names_of(given[3], &held, &name_count);
        if (names) {
            Folding f = {(int32_t)numbers[0].count,
                         numbers[0].bytes,
                         numbers[1].bytes,
                         numbers[2].bytes,
                         names,
                         name_count,
                         NULL,
                         NULL,
                         NULL};
            result = fold(&f);
            free(names);
            Py_DECREF(held);
        }
    }
    while (taken) numbers_release(&numbers[--taken]);
    return result;
}
