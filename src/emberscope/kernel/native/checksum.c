/* The checksum of the blocks of lz4-java: XXH32, as its specification (xxHash fast digest algorithm, 0.1.1) has it. */
#include <string.h>

#include "native.h"

#define PRIME_1 UINT32_C(0x9E3779B1)
#define PRIME_2 UINT32_C(0x85EBCA77)
#define PRIME_3 UINT32_C(0xC2B2AE3D)
#define PRIME_4 UINT32_C(0x27D4EB2F)
#define PRIME_5 UINT32_C(0x165667B1)

static uint32_t rotated(uint32_t value, int by) { return value << by | value >> (32 - by); }

static uint32_t little(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint32_t rounded(uint32_t lane, uint32_t word) { return rotated(lane + word * PRIME_2, 13) * PRIME_1; }

static uint32_t digest(const uint8_t *at, size_t size, uint32_t seed) {
    const uint8_t *end = at + size;
    uint32_t hash = seed + PRIME_5;
    if (size >= 16) {
        uint32_t lanes[4] = {seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1};
        for (; end - at >= 16; at += 16)
            for (int i = 0; i < 4; i++) lanes[i] = rounded(lanes[i], little(at + 4 * i));
        hash = rotated(lanes[0], 1) + rotated(lanes[1], 7) + rotated(lanes[2], 12) + rotated(lanes[3], 18);
    }
    hash += (uint32_t)size;
    for (; end - at >= 4; at += 4) hash = rotated(hash + little(at) * PRIME_3, 17) * PRIME_4;
    for (; at < end; at++) hash = rotated(hash + *at * PRIME_5, 11) * PRIME_1;
    hash = (hash ^ hash >> 15) * PRIME_2;
    hash = (hash ^ hash >> 13) * PRIME_3;
    return hash ^ hash >> 16;
}

PyObject *xxh32(PyObject *module, PyObject *args) {
    (void)module;
    Py_buffer data;
    PyObject *number;
    if (!PyArg_ParseTuple(args, "y*O!:xxh32", &data, &PyLong_Type, &number)) return NULL;
    uint32_t seed = (uint32_t)PyLong_AsUnsignedLongMask(number);
    if (PyErr_Occurred()) {
        PyBuffer_Release(&data);
        return NULL;
    }
    uint32_t hash;
    Py_BEGIN_ALLOW_THREADS
    hash = digest(data.buf, (size_t)data.len, seed);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(hash);
}
