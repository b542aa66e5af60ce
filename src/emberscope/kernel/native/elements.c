/* The metadata event: a table of strings, and a tree of elements over it. */
#include "native.h"

#define MAX_DEPTH 16

typedef struct {
    const uint8_t *p, *end;
    Bytes bytes;
    PyObject *strings; /* list */
    Py_ssize_t string_count;
    PyObject *found; /* list */
} Walk;

static bool wrong(const char *what) {
    PyErr_Format(PyExc_ValueError, "metadata cannot be right: %s", what);
    return false;
}

/* A count of things of which each takes at least a byte. */
static bool read_count(Walk *walk, int32_t *count) {
    const uint8_t *p = read_int(walk->p, walk->end, walk->bytes.compressed, count);
    if (!p) return wrong("it is cut");
    if (*count < 0 || *count > walk->end - p) return wrong("an impossible count");
    walk->p = p;
    return true;
}

/* A string, as a borrowed reference. */
static PyObject *read_string_index(Walk *walk) {
    int32_t index;
    const uint8_t *p = read_int(walk->p, walk->end, walk->bytes.compressed, &index);
    if (!p) {
        wrong("it is cut");
    } else if (index < 0 || index >= walk->string_count) {
        wrong("an index beyond the strings");
    } else {
        walk->p = p;
        return PyList_GetItem(walk->strings, index);
    }
    return NULL;
}

static bool read_text(Walk *walk, Text *text) {
    memset(text, 0, sizeof *text);
    if (walk->p >= walk->end) return wrong("it is cut");
    text->encoding = *walk->p++;
    if (text->encoding > 5) return wrong("a string of unknown encoding");
    if (text->encoding == 2) {
        walk->p = read_long(walk->p, walk->end, walk->bytes.compressed, &text->at);
    } else if (text->encoding > 2) {
        if (!read_count(walk, &text->length)) return false;
        text->at = walk->p - walk->bytes.data;
        size_t length = (size_t)text->length;
        if (text->encoding == 4 && walk->bytes.compressed) {
            walk->p = skip_varints(walk->p, walk->end, walk->end, length);
        } else {
            if (text->encoding == 4) length *= 2;
            walk->p = length <= (size_t)(walk->end - walk->p) ? walk->p + length : NULL;
        }
    }
    return walk->p || wrong("it is cut");
}

static bool read_strings(Walk *walk) {
    int32_t count;
    if (!read_count(walk, &count)) return false;
    for (int32_t i = 0; i < count; i++) {
        Text text;
        if (!read_text(walk, &text)) return false;
        if (text.encoding == 0 || text.encoding == 2) text.encoding = 1;
        PyObject *string = text_object(&walk->bytes, &text);
        int failed = string ? PyList_Append(walk->strings, string) : -1;
        Py_XDECREF(string);
        if (failed) return false;
    }
    walk->string_count = count;
    return true;
}

static PyObject *read_attributes(Walk *walk) {
    int32_t count;
    if (!read_count(walk, &count)) return NULL;
    if (count > (walk->end - walk->p) / 2) { /* each takes two bytes at least */
        wrong("an impossible count");
        return NULL;
    }
    PyObject *attributes = PyTuple_New(2 * (Py_ssize_t)count);
    for (Py_ssize_t i = 0; attributes && i < 2 * (Py_ssize_t)count; i++) {
        PyObject *string = read_string_index(walk);
        if (!string || PyTuple_SetItem(attributes, i, Py_NewRef(string)) < 0) Py_CLEAR(attributes);
    }
    return attributes;
}

static bool read_element(Walk *walk, int depth) {
    int32_t children;
    if (depth > MAX_DEPTH) return wrong("it is nested too deep");
    PyObject *name = read_string_index(walk);
    PyObject *attributes = name ? read_attributes(walk) : NULL;
    if (!attributes) return false;
    PyObject *element = Py_BuildValue("(iON)", depth, name, attributes);
    int failed = element ? PyList_Append(walk->found, element) : -1;
    Py_XDECREF(element);
    if (failed || !read_count(walk, &children)) return false;
    for (int32_t i = 0; i < children; i++)
        if (!read_element(walk, depth + 1)) return false;
    return true;
}

PyObject *elements(PyObject *module, PyObject *args, PyObject *keywords) {
    static char *names[] = {"body", "compressed", NULL};
    PyObject *body;
    int compressed;
    Py_buffer buffer;
    (void)module;
    if (!PyArg_ParseTupleAndKeywords(args, keywords, "Op:elements", names, &body, &compressed)) return NULL;
    if (PyObject_GetBuffer(body, &buffer, PyBUF_SIMPLE) < 0) return NULL;
    const uint8_t *start = buffer.buf, *end = start + buffer.len;
    Walk walk = {start, end, {start, end, compressed}, PyList_New(0), 0, PyList_New(0)};
    if (walk.strings && walk.found && !(read_strings(&walk) && read_element(&walk, 0))) Py_CLEAR(walk.found);
    if (!walk.strings) Py_CLEAR(walk.found);
    Py_XDECREF(walk.strings);
    PyBuffer_Release(&buffer);
    return walk.found;
}
