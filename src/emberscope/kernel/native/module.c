/* emberscope.kernel._native: what _native.pyi describes. */
#include "index.h"
#include "native.h"

#define ABI 2

NativeState *native_state(PyObject *self) { return PyType_GetModuleState(Py_TYPE(self)); }

bool is_free(const bool *busy) {
    if (*busy) PyErr_SetString(PyExc_RuntimeError, "another thread uses this object");
    return !*busy;
}

bool enter(bool *busy) {
    if (!is_free(busy)) return false;
    *busy = true;
    return true;
}

int long_of(PyObject *object, int64_t *value) {
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (number == -1 && PyErr_Occurred()) return -1;
    *value = number;
    return !overflow;
}

static PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, bool exported) {
    PyTypeObject *type = (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
    if (type && exported && PyModule_AddType(module, type) < 0) {
        Py_DECREF((PyObject *)type);
        return NULL;
    }
    return type;
}

/* By the secret of this process that Python hashes texts with. */
static bool seed_hashes(void) {
    PyObject *text = PyUnicode_FromString("emberscope.kernel");
    if (!text) return false;
    Py_hash_t hash = PyObject_Hash(text);
    Py_DECREF(text);
    hash_multiplier = (UINT64_C(0x9E3779B97F4A7C15) ^ (uint64_t)hash << 3) | 1;
    return hash != -1;
}

static int start(PyObject *module) {
    NativeState *state = PyModule_GetState(module);
    state->numbers = add_type(module, &numbers_spec, false);
    if (!state->numbers) return -1;
    if (!seed_hashes()) return -1;
    state->decoder = add_type(module, &decoder_spec, true);
    if (!state->decoder) return -1;
    state->stacks = add_type(module, &stacks_spec, true);
    if (!state->stacks) return -1;
    state->tree = add_type(module, &tree_spec, true);
    if (!state->tree) return -1;
    state->lines = add_type(module, &lines_spec, true);
    if (!state->lines) return -1;
    return PyModule_AddIntConstant(module, "ABI", ABI);
}

static int visit(PyObject *module, visitproc visit, void *arg) {
    NativeState *state = PyModule_GetState(module);
    Py_VISIT((PyObject *)state->numbers);
    Py_VISIT((PyObject *)state->decoder);
    Py_VISIT((PyObject *)state->stacks);
    Py_VISIT((PyObject *)state->tree);
    Py_VISIT((PyObject *)state->lines);
    return 0;
}

static int clear(PyObject *module) {
    NativeState *state = PyModule_GetState(module);
    PyTypeObject **types[] = {&state->numbers, &state->decoder, &state->stacks, &state->tree, &state->lines};
    for (int i = 0; i < 5; i++) {
        PyObject *type = (PyObject *)*types[i];
        *types[i] = NULL;
        Py_XDECREF(type);
    }
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, start},
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,     .m_name = "_native", .m_doc = "The kernel in C.", .m_size = sizeof(NativeState),
    .m_methods = fold_methods, .m_slots = slots,    .m_traverse = visit,         .m_clear = clear,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
