/* Strings of a recording as strings of Python. They are looked at only when somebody asks for them. */
#include "native.h"

static bool is_ascii(const uint8_t *p, size_t length) {
    uint8_t any = 0;
    size_t i = 0;
    for (; i + 8 <= length; i += 8)
        if (little64(p + i) & STOP_BITS) return false;
    for (; i < length; i++) any |= p[i];
    return any < 0x80;
}

/* Units of UTF-16. Their bytes have been gone through once; they are checked again, as the data might not be constant.
 */
static PyObject *units_object(const Bytes *bytes, const Text *text) {
    const uint8_t *p = bytes->data + text->at;
    size_t length = (size_t)text->length;
    int little = -1;
    PyObject *units = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)length * 2);
    if (!units) return NULL;
    char *out = PyBytes_AsString(units);
    for (size_t i = 0; i < length && p; i++) {
        uint16_t unit;
        p = read_char(p, bytes->end, bytes->compressed, &unit);
        if (!p) break;
        out[2 * i] = (char)(unit & 0xff);
        out[2 * i + 1] = (char)(unit >> 8);
    }
    PyObject *object = NULL;
    if (p) {
        object = PyUnicode_DecodeUTF16(out, (Py_ssize_t)length * 2, "replace", &little);
    } else {
        PyErr_SetString(PyExc_ValueError, "the data has changed");
    }
    Py_DECREF(units);
    return object;
}

PyObject *text_object(const Bytes *bytes, const Text *text) {
    const char *start = (const char *)bytes->data + text->at;
    switch (text->encoding) {
    case 1:
        return PyUnicode_FromStringAndSize("", 0);
    case 3:
        return PyUnicode_DecodeUTF8(start, text->length, "replace");
    case 4:
        if (bytes->compressed && is_ascii((const uint8_t *)start, (size_t)text->length))
            return PyUnicode_DecodeLatin1(start, text->length, NULL);
        return units_object(bytes, text);
    case 5:
        return PyUnicode_DecodeLatin1(start, text->length, NULL);
    default:
        return Py_NewRef(Py_None);
    }
}

const char *text_utf8(const Bytes *bytes, const Text *text, PyObject **held, size_t *length) {
    const uint8_t *start = bytes->data + text->at;
    bool bytewise = text->encoding == 3 || text->encoding == 5 || (text->encoding == 4 && bytes->compressed);
    *held = NULL;
    *length = (size_t)text->length;
    if (text->encoding == 1 || (bytewise && is_ascii(start, *length))) return (const char *)start;
    *held = text_object(bytes, text);
    if (!*held) return NULL;
    Py_ssize_t size;
    const char *utf8 = PyUnicode_AsUTF8AndSize(*held, &size);
    if (!utf8) Py_CLEAR(*held);
    *length = (size_t)size;
    return utf8;
}
