/* One pass over lines: those that are as their kind says become rows, all others are left to the caller. */
#include "lines.h"

#include <stdlib.h>

#include "json.h"

#define SLOTS (2 * MOST_TEXTS)
#define NONE 0 /* no member: before the first, and where none is foreseen */

/* The members of an object come in the same order nearly always. `follows` has, for each, the one that came after it
 * the last time; members that are not wanted are learned, so that they too can be foreseen. Numbers from 1: the wanted
 * members, then the learned ones. */
typedef struct {
    struct {
        const uint8_t *key;
        uint32_t length;
    } learned[MOST_LEARNED];
    uint8_t follows[1 + MOST_MEMBERS + MOST_LEARNED];
    uint8_t count;
} Order;

typedef struct {
    const uint8_t *end;
    const Kind *kind;
    Order *orders;
    Found *found;
    int32_t *slots; /* a hash table of texts, by number from 1 */
} Scan;

static bool longs_grow(Longs *longs, size_t more) {
    if (longs->capacity - longs->count >= more) return true;
    size_t capacity = 2 * longs->capacity + more + 1024;
    int64_t *values = realloc(longs->values, capacity * sizeof *values);
    if (!values) return false;
    longs->values = values;
    longs->capacity = capacity;
    return true;
}

/* The number of a text of the lines; -1 where there are too many. */
static int64_t text_number(Scan *scan, const uint8_t *start, uint32_t length) {
    uint64_t hash = length;
    for (uint32_t i = 0; i < length; i++) hash = (hash ^ start[i]) * UINT64_C(0x100000001b3);
    for (size_t slot = (hash ^ hash >> 29) % SLOTS;; slot = (slot + 1) % SLOTS) {
        int32_t number = scan->slots[slot] - 1;
        if (number < 0) {
            if (scan->found->text_count == MOST_TEXTS) return -1;
            number = scan->found->text_count++;
            scan->found->texts[number].start = start;
            scan->found->texts[number].length = length;
            scan->slots[slot] = number + 1;
            return number;
        }
        if (scan->found->texts[number].length == length && !memcmp(scan->found->texts[number].start, start, length))
            return number;
    }
}

/* A string of ASCII without escapes. */
static const uint8_t *take_text(Scan *scan, const uint8_t *p, int64_t *value) {
    if (*p != '"') return NULL;
    const uint8_t *start = p + 1, *stop = json_plain(start, scan->end);
    if (*stop != '"' || stop - start > UINT16_MAX) return NULL;
    for (const uint8_t *byte = start; byte < stop; byte++) {
        if (*byte >= 0x80) return NULL;
    }
    *value = text_number(scan, start, (uint32_t)(stop - start));
    return *value < 0 ? NULL : stop + 1;
}

/* The number of the member whose key is at p, which may be a new one; NONE where it is no plain key. Where there is no
 * room to learn it the number is 255. `length` gets that of the key. */
static unsigned find_member(const Node *node, Order *order, const uint8_t *p, const uint8_t *end, size_t *length) {
    if (*p != '"') return NONE;
    const uint8_t *stop = json_plain(p + 1, end);
    if (stop[0] != '"' || stop[1] != ':' || stop - p > UINT16_MAX) return NONE;
    *length = (size_t)(stop + 2 - p);
    for (int i = 0; i < node->count; i++) {
        const Member *member = &node->members[i];
        if (member->key_length == *length && !memcmp(member->key, p, *length)) return (unsigned)i + 1;
    }
    for (unsigned i = 0; i < order->count; i++) {
        if (order->learned[i].length == *length && !memcmp(order->learned[i].key, p, *length))
            return (unsigned)node->count + i + 1;
    }
    if (order->count == MOST_LEARNED) return UINT8_MAX;
    order->learned[order->count].key = p;
    order->learned[order->count].length = (uint32_t)*length;
    return (unsigned)node->count + ++order->count;
}

static const uint8_t *take_members(Scan *scan, int32_t at, const uint8_t *p, int64_t *row);

static const uint8_t *take_member(Scan *scan, const Member *member, const uint8_t *p, int64_t *row) {
    int64_t value;
    switch (member->action) {
        case TAKE_LONG:
        case TAKE_INT:
            p = json_integer(p, &value);
            if (!p || (member->action == TAKE_INT && value != (int32_t)value)) return NULL;
            break;
        case TAKE_ZERO:
            p = json_integer(p, &value);
            if (!p || value) return NULL;
            break;
        case TAKE_FLAG:
            value = *p == 't';
            if (!value && *p != 'f') return NULL;
            p = json_value(p, scan->end, 0);
            break;
        case TAKE_TEXT:
            p = take_text(scan, p, &value);
            break;
        case TAKE_OBJECT:
            if (*p != '{') return NULL;
            if (p[1] == '}') {
                p = scan->kind->nodes[member->node].required ? NULL : p + 2;
            } else {
                p = take_members(scan, member->node, p + 1, row);
            }
            value = 1;
            break;
        case IS_TEXT:
            return is_same(p, scan->end, member->text, member->text_length) ? p + member->text_length : NULL;
        default:
            return NULL;
    }
    if (p && member->column >= 0) row[member->column] = value;
    return p;
}

/* Past an object, whose first member, or another one, begins at p. */
static const uint8_t *take_members(Scan *scan, int32_t at, const uint8_t *p, int64_t *row) {
    const Node *node = &scan->kind->nodes[at];
    Order *order = &scan->orders[at];
    uint64_t seen = 0;
    unsigned last = NONE;
    for (;;) {
        unsigned number = order->follows[last];
        const uint8_t *key = NULL;
        size_t length = 0;
        if (number != NONE) {
            bool is_wanted = number <= (unsigned)node->count;
            key = is_wanted ? node->members[number - 1].key : order->learned[number - 1 - (unsigned)node->count].key;
            length = is_wanted ? node->members[number - 1].key_length
                               : order->learned[number - 1 - (unsigned)node->count].length;
        }
        if (!key || !is_same(p, scan->end, key, length)) {
            number = find_member(node, order, p, scan->end, &length);
            if (number == NONE) return NULL;
            if (number != UINT8_MAX) order->follows[last] = (uint8_t)number;
        }
        p += length;
        if (number <= (unsigned)node->count) {
            if (seen >> (number - 1) & 1) return NULL; /* which of two counts is not for us to say */
            seen |= UINT64_C(1) << (number - 1);
            p = take_member(scan, &node->members[number - 1], p, row);
        } else {
            p = json_value(p, scan->end, JSON_DEPTH);
        }
        if (!p) return NULL;
        if (number != UINT8_MAX) last = number;
        if (*p == '}') break;
        if (*p++ != ',') return NULL;
    }
    return (seen & node->required) == node->required ? p + 1 : NULL;
}

/* Past a line of a kind, with its end; NULL where it is another, or not as foreseen. */
static const uint8_t *take_line(Scan *scan, const Kind *kinds, size_t count, Order *orders, const uint8_t *p,
                                bool *no_memory) {
    for (size_t i = 0; i < count; i++) {
        if (!is_same(p, scan->end, kinds[i].prefix, kinds[i].prefix_length)) continue;
        size_t width = (size_t)kinds[i].width;
        Longs *rows = &scan->found->rows[i];
        *no_memory = !longs_grow(rows, width);
        if (*no_memory) return NULL;
        int64_t *row = rows->values + rows->count;
        memcpy(row, kinds[i].row, width * sizeof *row);
        row[0] = scan->found->line_count;
        scan->kind = &kinds[i];
        scan->orders = orders + i * MOST_NODES;
        p += kinds[i].prefix_length;
        p = *p == ',' ? take_members(scan, 0, p + 1, row) : NULL;
        if (!p || (p < scan->end && *p != '\n')) return NULL;
        rows->count += width;
        return p < scan->end ? p + 1 : p;
    }
    return NULL;
}

bool lines_scan(const Kind *kinds, size_t kind_count, const uint8_t *text, size_t length, Found *found) {
    Scan scan = {.end = text + length, .found = found};
    Order *orders = calloc(kind_count * MOST_NODES + 1, sizeof *orders);
    scan.slots = calloc(SLOTS, sizeof *scan.slots);
    bool no_memory = !orders || !scan.slots;
    for (const uint8_t *p = text; !no_memory && p < scan.end;) {
        found->line_count++;
        const uint8_t *next = take_line(&scan, kinds, kind_count, orders, p, &no_memory);
        if (no_memory) break;
        if (!next) {
            const uint8_t *stop = memchr(p, '\n', (size_t)(scan.end - p));
            next = stop ? stop + 1 : scan.end;
            no_memory = !longs_grow(&found->others, 3);
            if (no_memory) break;
            int64_t *other = found->others.values + found->others.count;
            other[0] = found->line_count;
            other[1] = p - text;
            other[2] = next - text;
            found->others.count += 3;
        }
        p = next;
    }
    free(orders);
    free(scan.slots);
    return !no_memory;
}
