/* Distinct texts by number, and the texts of frames. */
#ifndef EMBERSCOPE_TEXTS_H
#define EMBERSCOPE_TEXTS_H

#include "native.h"

typedef struct {
    const char *bytes; /* UTF-8 */
    size_t length;
    uint64_t hash;
} TextItem;

typedef struct TextBlock TextBlock;

/* All zero is an empty set. */
typedef struct {
    TextItem *items;
    int32_t count, capacity;
    int32_t *places; /* hash table of the items; -1: free */
    size_t place_count;
    TextBlock *blocks; /* where the bytes are */
} Texts;

/* The number of a text, new or not. -1: out of memory. */
int32_t texts_add(Texts *texts, const char *bytes, size_t length);
PyObject *texts_object(const Texts *texts, int32_t number);
void texts_clear(Texts *texts);

/* Numbers in `texts` of the classes and methods of a chunk's frames; good for one call that holds the GIL. */
typedef struct {
    Texts *texts;
    const Bytes *bytes;
    const TraceColumns *columns;
    int32_t *of_symbol; /* by row: what was asked for before; NULL: is not kept */
} FrameTexts;

/* For one frame. */
FrameTexts frame_texts_without_memory(Texts *texts, const Stacks *stacks);
/* For many. False with an exception set: out of memory. */
bool frame_texts_start(FrameTexts *frames, Texts *texts, const Stacks *stacks);
void frame_texts_clear(FrameTexts *frames);
/* Class and method of a frame; -1: not there. False with an exception set. */
bool frame_texts_of(FrameTexts *frames, const LocalFrame *frame, int32_t *klass, int32_t *method);

/* Whether stacks are complete and no other thread uses them; else an exception. */
bool stacks_ready(const Stacks *stacks);

#endif
