/* Memory of columns, which start small and may become very large. */
#ifndef EMBERSCOPE_MEMORY_H
#define EMBERSCOPE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* `old` of `old_size` bytes with `*size` bytes or more, its contents kept; `*size` becomes how many it has. NULL: out
 * of memory, and `old` stays as it was. `old` may be NULL with size 0. */
void *memory_grow(void *old, size_t old_size, size_t *size);
void memory_free(void *memory, size_t size);

#endif
