/* SPDX-License-Identifier: Apache-2.0 */
/* event.c — the hot loop of reading JSON. It copies no string, and reads no number twice. It
 * recognises a key by its length and its first eight bytes. */
#include "import/chrome/event.h"

#include <stdlib.h>

#include "base/array.h"

/* The first eight bytes of a key as a little-endian number, with zeros after its end. */
#define KEY1(a) ((uint64_t)(a))
#define KEY2(a, b) (KEY1(a) | (uint64_t)(b) << 8)
#define KEY3(a, b, c) (KEY2(a, b) | (uint64_t)(c) << 16)
#define KEY4(a, b, c, d) (KEY3(a, b, c) | (uint64_t)(d) << 24)
#define KEY5(a, b, c, d, e) (KEY4(a, b, c, d) | (uint64_t)(e) << 32)
#define KEY7(a, b, c, d, e, f, g) (KEY5(a, b, c, d, e) | (uint64_t)(f) << 40 | (uint64_t)(g) << 48)

/* A perfect hash: no two of the words below have the same slot (the compiler would report it). */
#define FIELD_BITS 5
#define FIELD_MULTIPLIER UINT64_C(0xd6730839e1e48557)
#define FIELD_SLOT(word) ((word) * FIELD_MULTIPLIER >> (64 - FIELD_BITS))
#define FIELD(word, length, field) [FIELD_SLOT(word)] = { word, length, field }

static const struct field_word { uint64_t word; uint32_t length; enum vv_chrome_field field;
} field_words[1 << FIELD_BITS] = {
    FIELD(KEY2('p', 'h'), 2, VV_FIELD_PH),
    FIELD(KEY3('c', 'a', 't'), 3, VV_FIELD_CAT),
    FIELD(KEY4('n', 'a', 'm', 'e'), 4, VV_FIELD_NAME),
    FIELD(KEY3('p', 'i', 'd'), 3, VV_FIELD_PID),
    FIELD(KEY3('t', 'i', 'd'), 3, VV_FIELD_TID),
    FIELD(KEY2('t', 's'), 2, VV_FIELD_TS),
    FIELD(KEY3('d', 'u', 'r'), 3, VV_FIELD_DUR),
    FIELD(KEY4('a', 'r', 'g', 's'), 4, VV_FIELD_ARGS),
    FIELD(KEY2('i', 'd'), 2, VV_FIELD_ID),
    FIELD(KEY2('b', 'p'), 2, VV_FIELD_BP),
    FIELD(KEY1('s'), 1, VV_FIELD_S),
    FIELD(KEY3('i', 'd', '2'), 3, VV_FIELD_ID2),
    FIELD(KEY5('s', 'c', 'o', 'p', 'e'), 5, VV_FIELD_SCOPE),
    FIELD(KEY2('s', 'f'), 2, VV_FIELD_SF),
    FIELD(KEY4('t', 'd', 'u', 'r'), 4, VV_FIELD_TDUR),
    FIELD(KEY7('b', 'i', 'n', 'd', '_', 'i', 'd'), 7, VV_FIELD_BIND_ID),
    FIELD(KEY7('f', 'l', 'o', 'w', '_', 'i', 'n'), 7, VV_FIELD_FLOW_IN),
};

static enum vv_chrome_field long_field(const struct vv_chrome_value *key)
{
    if (key->length == 8 && memcmp(key->at, "flow_out", 8) == 0)
        return VV_FIELD_FLOW_OUT;
    return VV_FIELD_OTHER;
}

VV_CHROME_INLINE enum vv_chrome_field field_of(const struct vv_chrome_value *key)
{
    if (__builtin_expect(key->length - 1 >= 7, 0)) /* also if the length is 0                    */
        return long_field(key);
    uint64_t word;
    memcpy(&word, key->at, sizeof word);
    word = le64toh(word) & ((UINT64_C(1) << key->length * 8) - 1);
    const struct field_word *found = &field_words[FIELD_SLOT(word)];
    return found->word == word && found->length == key->length ? found->field : VV_FIELD_OTHER;
}

VV_CHROME_INLINE struct vv_chrome_arg *next_arg(struct vv_chrome_event *event)
{
    if (__builtin_expect(event->arg_count == event->arg_capacity, 0) &&
        vv_array_reserve(&event->args, &event->arg_capacity, event->arg_count + 1,
                         sizeof *event->args, NULL) != VARVE_OK)
        return NULL;
    return &event->args[event->arg_count];
}

VV_CHROME_INLINE enum vv_chrome_status no_memory(struct vv_chrome_cursor *cursor)
{
    cursor->bad_at = cursor->text + *cursor->next;
    cursor->bad_why = "";
    cursor->has_no_memory = true;
    return VV_CHROME_BAD;
}

VV_CHROME_INLINE enum vv_chrome_status read_args(struct vv_chrome_cursor *cursor,
                                                 struct vv_chrome_event *event)
{
    enum vv_chrome_status status = VV_CHROME_DONE;
    cursor->next++;
    event->first_inner = event->arg_count;
    while (status == VV_CHROME_DONE && !vv_chrome_closes(cursor, '}')) {
        struct vv_chrome_arg *arg = next_arg(event);
        if (__builtin_expect(arg == NULL, 0))
            return no_memory(cursor);
        status = vv_chrome_member(cursor, &arg->key, &arg->value);
        event->arg_count++;
    }
    event->inner_end = event->arg_count;
    return status;
}

VV_CHROME_INLINE enum vv_chrome_status read_other(struct vv_chrome_cursor *cursor,
                                        struct vv_chrome_event *event,
                                        const struct vv_chrome_value *key, const char **out_end)
{
    struct vv_chrome_arg *arg = next_arg(event);
    if (arg == NULL)
        return no_memory(cursor);
    arg->key = *key;
    event->arg_count++;
    return vv_chrome_value(cursor, &arg->value, out_end);
}

VV_CHROME_INLINE enum vv_chrome_status read_event(struct vv_chrome_cursor *cursor,
                                                  struct vv_chrome_event *event)
{
    enum vv_chrome_status status = VV_CHROME_DONE;
    struct vv_chrome_value key;
    event->object.at = cursor->text + *cursor->next;
    event->present = 0;
    event->arg_count = event->first_inner = event->inner_end = 0;
    cursor->next++;
    while (!vv_chrome_closes(cursor, '}')) {
        const char *end = NULL;
        status = vv_chrome_key(cursor, &key);
        if (__builtin_expect(status != VV_CHROME_DONE, 0))
            return status;
        enum vv_chrome_field field = field_of(&key);
        if (field < VV_FIELD_COUNT) {
            status = vv_chrome_value(cursor, &event->fields[field], &end);
            event->present |= UINT32_C(1) << field;
        } else if (field == VV_FIELD_ARGS && cursor->text[*cursor->next] == '{') {
            status = read_args(cursor, event);
            end = cursor->text + cursor->next[-1] + 1;
        } else {
            status = read_other(cursor, event, &key, &end);
        }
        if (status == VV_CHROME_DONE)
            status = vv_chrome_after_value(cursor, end, '}');
        if (__builtin_expect(status != VV_CHROME_DONE, 0))
            return status;
    }
    event->object.length = (uint32_t)(cursor->text + cursor->next[-1] + 1 - event->object.at);
    return VV_CHROME_DONE;
}

enum vv_chrome_status vv_chrome_event_read(struct vv_chrome_cursor *cursor,
                                           struct vv_chrome_event *event)
{
    struct vv_chrome_cursor own = *cursor; /* a copy that stays in registers                    */
    enum vv_chrome_status status = read_event(&own, event);
    *cursor = own;
    return status;
}

void vv_chrome_event_deinit(struct vv_chrome_event *event)
{
    free(event->args);
    *event = (struct vv_chrome_event){ 0 };
}
