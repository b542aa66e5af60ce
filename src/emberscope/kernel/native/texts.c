#include "texts.h"

#include <stdlib.h>

#define BLOCK_BYTES 65536

struct TextBlock {
    TextBlock *before;
    size_t used, size;
    char bytes[];
};

static uint64_t hash_of(const char *bytes, size_t length) {
    const uint8_t *p = (const uint8_t *)bytes;
    uint64_t hash = hash_multiplier ^ length;
    for (; length >= 8; p += 8, length -= 8) {
        hash = (hash ^ little64(p)) * hash_multiplier;
        hash ^= hash >> 29;
    }
    for (; length; p++, length--) hash = (hash ^ *p) * UINT64_C(0x100000001b3);
    hash *= hash_multiplier;
    return hash ^ hash >> 32;
}

static char *keep(Texts *texts, const char *bytes, size_t length) {
    TextBlock *block = texts->blocks;
    if (!block || block->size - block->used < length) {
        size_t size = length > BLOCK_BYTES ? length : BLOCK_BYTES;
        block = malloc(sizeof *block + size);
        if (!block) return NULL;
        *block = (TextBlock){.before = texts->blocks, .used = 0, .size = size};
        texts->blocks = block;
    }
    char *kept = block->bytes + block->used;
    if (length) memcpy(kept, bytes, length);
    block->used += length;
    return kept;
}

static size_t place_of(const Texts *texts, const char *bytes, size_t length, uint64_t hash) {
    size_t mask = texts->place_count - 1, at = (size_t)hash & mask;
    while (texts->places[at] >= 0) {
        const TextItem *item = &texts->items[texts->places[at]];
        if (item->hash == hash && item->length == length && !memcmp(item->bytes, bytes, length)) break;
        at = (at + 1) & mask;
    }
    return at;
}

static bool grow(Texts *texts) {
    if (texts->count == texts->capacity) {
        if (texts->capacity > INT32_MAX / 2) return false;
        int32_t capacity = texts->capacity ? texts->capacity * 2 : 64;
        TextItem *items = realloc(texts->items, (size_t)capacity * sizeof *items);
        if (!items) return false;
        texts->items = items;
        texts->capacity = capacity;
    }
    if ((size_t)texts->count * 2 < texts->place_count) return true;
    size_t count = texts->place_count ? texts->place_count * 2 : 128;
    int32_t *places = realloc(texts->places, count * sizeof *places);
    if (!places) return false;
    memset(places, 0xff, count * sizeof *places);
    texts->places = places;
    texts->place_count = count;
    for (int32_t i = 0; i < texts->count; i++) {
        size_t at = (size_t)texts->items[i].hash & (count - 1);
        while (places[at] >= 0) at = (at + 1) & (count - 1);
        places[at] = i;
    }
    return true;
}

int32_t texts_add(Texts *texts, const char *bytes, size_t length) {
    uint64_t hash = hash_of(bytes, length);
    if (!grow(texts)) return -1;
    size_t at = place_of(texts, bytes, length, hash);
    if (texts->places[at] >= 0) return texts->places[at];
    const char *kept = keep(texts, bytes, length);
    if (!kept) return -1;
    texts->items[texts->count] = (TextItem){kept, length, hash};
    texts->places[at] = texts->count;
    return texts->count++;
}

PyObject *texts_object(const Texts *texts, int32_t number) {
    if (number < 0) return Py_NewRef(Py_None);
    const TextItem *item = &texts->items[number];
    return PyUnicode_FromStringAndSize(item->bytes, (Py_ssize_t)item->length);
}

void texts_clear(Texts *texts) {
    free(texts->items);
    free(texts->places);
    for (TextBlock *block = texts->blocks; block;) {
        TextBlock *before = block->before;
        free(block);
        block = before;
    }
    memset(texts, 0, sizeof *texts);
}

#define NOT_ASKED_FOR (-2)

FrameTexts frame_texts_without_memory(Texts *texts, const Stacks *stacks) {
    return (FrameTexts){texts, &stacks->decoder->chunk.bytes, &stacks->traces.columns, NULL};
}

bool frame_texts_start(FrameTexts *frames, Texts *texts, const Stacks *stacks) {
    const TraceColumns *columns = &stacks->traces.columns;
    int64_t rows = record_rows(columns->symbol);
    *frames = frame_texts_without_memory(texts, stacks);
    frames->of_symbol = malloc(((size_t)rows + 1) * sizeof *frames->of_symbol);
    if (!frames->of_symbol) PyErr_NoMemory();
    for (int64_t i = 0; frames->of_symbol && i < rows; i++) frames->of_symbol[i] = NOT_ASKED_FOR;
    return frames->of_symbol;
}

void frame_texts_clear(FrameTexts *frames) { free(frames->of_symbol); }

/* The text of the symbol with this key; -1: not there. False with an exception set. */
static bool text_of(FrameTexts *frames, int64_t key, int32_t *number) {
    int32_t row = row_of(frames->columns->symbol, key);
    *number = row < 0 ? -1 : frames->of_symbol ? frames->of_symbol[row] : NOT_ASKED_FOR;
    if (*number != NOT_ASKED_FOR) return true;
    const Text *text = symbol_text(frames->columns, row);
    *number = -1;
    if (text) {
        PyObject *held;
        size_t length;
        const char *utf8 = text_utf8(frames->bytes, text, &held, &length);
        if (!utf8) return false;
        *number = texts_add(frames->texts, utf8, length);
        Py_XDECREF(held);
        if (*number < 0) {
            PyErr_NoMemory();
            return false;
        }
    }
    if (frames->of_symbol) frames->of_symbol[row] = *number;
    return true;
}

bool frame_texts_of(FrameTexts *frames, const LocalFrame *frame, int32_t *klass, int32_t *method) {
    const TraceColumns *c = frames->columns;
    *klass = *method = -1;
    if (frame->kind == KIND_OF_TRUNCATED) return true;
    int32_t row = row_of(c->method, frame->method);
    if (row < 0) return true;
    int32_t class_row = row_of(c->klass, c->method_classes[row]);
    if (class_row >= 0 && !text_of(frames, c->class_names[class_row], klass)) return false;
    return text_of(frames, c->method_names[row], method);
}
