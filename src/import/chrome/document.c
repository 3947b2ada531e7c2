/* SPDX-License-Identifier: Apache-2.0 */
/* document.c — reads the top level: an array of events, or an object with "traceEvents" and other
 * keys, in any order. Lists are read element by element, so they may be larger than memory. If the
 * end of the window cuts an element or value, it is read again in the next window. An array may
 * lack its end: the format allows it. */
#include "import/chrome/number.h"
#include "import/chrome/reader.h"

typedef enum vv_chrome_status element_function(struct vv_chrome_reader *reader,
                                               enum varve_code *out_code,
                                               struct varve_error *error);

static bool is_key(const struct vv_chrome_value *key, const char *word)
{
    return vv_text_is(key->at, key->length, word);
}

/* ---- lists ---- */

/* Reads what follows an element; the input may also end there. */
static inline enum vv_chrome_status after_element(struct vv_chrome_reader *reader, const char *end,
                                                  char close)
{
    enum vv_chrome_status status = vv_chrome_after_value(&reader->cursor, end, close);
    return status == VV_CHROME_MORE && reader->window.is_last ? VV_CHROME_DONE : status;
}

/* Reads an element and turns it into rows. */
static enum vv_chrome_status read_event(struct vv_chrome_reader *reader, enum varve_code *out_code,
                                        struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    struct vv_chrome_value value = { 0 };
    const char *end;
    enum vv_chrome_status status;
    bool is_event = cursor->text[*cursor->next] == '{';
    if (__builtin_expect(is_event, 1)) {
        status = vv_chrome_event_read(cursor, &reader->event);
        end = cursor->text + cursor->next[-1] + 1;
    } else {
        status = vv_chrome_value(cursor, &value, &end);
    }
    if (status == VV_CHROME_DONE)
        status = after_element(reader, end, ']');
    if (__builtin_expect(status != VV_CHROME_DONE, 0))
        return status;
    if (is_event)
        *out_code = vv_chrome_apply(reader, error);
    else
        reader->model->health.ignored++;
    return VV_CHROME_DONE;
}

static enum vv_chrome_status read_sample(struct vv_chrome_reader *reader, enum varve_code *out_code,
                                         struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    if (cursor->text[*cursor->next] != '{')
        return vv_chrome_bad(cursor, cursor->text + *cursor->next, "a sample must stand here");
    enum vv_chrome_status status = vv_chrome_event_read(cursor, &reader->event);
    if (status == VV_CHROME_DONE)
        status = after_element(reader, cursor->text + cursor->next[-1] + 1, ']');
    if (status == VV_CHROME_DONE)
        *out_code = vv_chrome_apply_sample(reader, error);
    return status;
}

static enum varve_code push_frame(struct vv_chrome_reader *reader, const struct vv_chrome_value *id,
                                  struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    struct vv_chrome_frame frame = { 0 };
    VV_TRY(vv_chrome_text_id(&reader->text, id, &frame.id, error));
    if (vv_chrome_has(event, VV_FIELD_NAME) &&
        event->fields[VV_FIELD_NAME].kind <= VV_CHROME_NUMBER)
        VV_TRY(vv_chrome_text_id(&reader->text, &event->fields[VV_FIELD_NAME], &frame.name, error));
    for (size_t i = 0; i < event->arg_count; i++) {
        const struct vv_chrome_value *value = &event->args[i].value;
        if (is_key(&event->args[i].key, "parent") && value->kind <= VV_CHROME_NUMBER)
            VV_TRY(vv_chrome_text_id(&reader->text, value, &frame.parent, error));
    }
    VV_CHROME_PUSH(&reader->frames, frame, error);
    return VARVE_OK;
}

/* Reads a frame: "7": {"category": "m2", "name": "frame7", "parent": "1"}. */
static enum vv_chrome_status read_frame(struct vv_chrome_reader *reader, enum varve_code *out_code,
                                        struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    struct vv_chrome_value id;
    enum vv_chrome_status status = vv_chrome_key(cursor, &id);
    if (status == VV_CHROME_DONE && cursor->text[*cursor->next] != '{')
        return vv_chrome_bad(cursor, cursor->text + *cursor->next, "a stack frame must stand here");
    if (status == VV_CHROME_DONE)
        status = vv_chrome_event_read(cursor, &reader->event);
    if (status == VV_CHROME_DONE)
        status = after_element(reader, cursor->text + cursor->next[-1] + 1, '}');
    if (status == VV_CHROME_DONE)
        *out_code = push_frame(reader, &id, error);
    return status;
}

/* Reads elements until `close`, or to the end of the input. In the latter case *out_is_closed is
 * false, and is_cut is set if the input ends inside an element. */
static enum varve_code read_list(struct vv_chrome_reader *reader, element_function *read,
                                 char close, bool *out_is_closed, struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    *out_is_closed = false;
    for (;;) {
        const char *keep = cursor->text + *cursor->next;
        enum vv_chrome_status status = VV_CHROME_MORE;
        enum varve_code code = VARVE_OK;
        bool more;
        if (__builtin_expect(cursor->next < cursor->end, 1)) {
            if (vv_chrome_stops(reader))
                return VARVE_OK;
            *out_is_closed = vv_chrome_closes(cursor, close);
            if (__builtin_expect(*out_is_closed, 0))
                return VARVE_OK;
            status = read(reader, &code, error);
        }
        if (__builtin_expect(status == VV_CHROME_DONE, 1)) {
            VV_TRY(code);
            continue;
        }
        if (status == VV_CHROME_BAD)
            return vv_chrome_fail(reader, error);
        VV_TRY(vv_chrome_refill(reader, keep, &more, error));
        if (!more) {
            reader->is_cut = reader->is_cut || keep < cursor->text + *cursor->end;
            cursor->next = cursor->end; /* do not go on inside the element that is cut          */
            return VARVE_OK;
        }
    }
}

/* ---- other members ---- */

static enum varve_code read_base(struct vv_chrome_reader *reader,
                                 const struct vv_chrome_value *value, struct varve_error *error)
{
    int64_t base_ns;
    if (!vv_chrome_integer(value, &base_ns) || base_ns < -VV_CHROME_TIME_NS_MAX ||
        base_ns > VV_CHROME_TIME_NS_MAX)
        return vv_fail_at(error, VARVE_CORRUPT,
                          reader->window.offset + (uint64_t)(value->at - reader->window.text),
                          "'%s': baseTimeNanoseconds is no time", reader->job->path);
    reader->base_ns = base_ns;
    return VARVE_OK;
}

/* Reads the members of Kineto's "distributedInfo", and of VizTracer's "viztracer_metadata". */
static enum varve_code read_inner(struct vv_chrome_reader *reader,
                                  const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_chrome_cursor cursor = reader->cursor;
    struct vv_chrome_value key, inner;
    if (value->kind != VV_CHROME_OBJECT)
        return VARVE_OK;
    cursor.next = value->token + 1;
    while (!vv_chrome_closes(&cursor, '}') &&
           vv_chrome_member(&cursor, &key, &inner) == VV_CHROME_DONE) {
        if (is_key(&key, "rank"))
            vv_chrome_integer(&inner, &reader->rank);
        else if (is_key(&key, "world_size"))
            vv_chrome_integer(&inner, &reader->world_size);
        else if (is_key(&key, "baseTimeNanoseconds"))
            VV_TRY(read_base(reader, &inner, error));
    }
    return VARVE_OK;
}

static enum varve_code add_fact(struct vv_chrome_reader *reader, const struct vv_chrome_value *key,
                                const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_facts *facts = &reader->model->facts;
    uint32_t row;
    if (is_key(key, "baseTimeNanoseconds"))
        VV_TRY(read_base(reader, value, error));
    if (is_key(key, "distributedInfo") || is_key(key, "viztracer_metadata"))
        VV_TRY(read_inner(reader, value, error));
    if (is_key(key, "host_name") && value->kind == VV_CHROME_STRING)
        VV_TRY(vv_chrome_text_id(&reader->text, value, &reader->host, error));
    VV_TRY(vv_model_add_fact(reader->model, &row, error));
    VV_TRY(vv_chrome_text_id(&reader->text, key, &facts->key[row], error));
    return vv_chrome_store(reader, value, &facts->value[row], &facts->kind[row], error);
}

static enum vv_chrome_status read_fact(struct vv_chrome_reader *reader, enum varve_code *out_code,
                                       struct varve_error *error)
{
    struct vv_chrome_value key, value;
    enum vv_chrome_status status = vv_chrome_member(&reader->cursor, &key, &value);
    if (status == VV_CHROME_DONE)
        *out_code = add_fact(reader, &key, &value, error);
    return status;
}

/* ---- the object ---- */

static const struct member_list { const char *key; char open, close; element_function *read;
} member_lists[] = {
    { "traceEvents", '[', ']', read_event },
    { "samples", '[', ']', read_sample },
    { "stackFrames", '{', '}', read_frame },
};

/* Is the next member one of the lists? If so, the cursor moves to the place after its bracket. */
static enum vv_chrome_status find_list(struct vv_chrome_cursor *cursor,
                                       const struct member_list **out_list)
{
    struct vv_chrome_cursor ahead = *cursor;
    struct vv_chrome_value key;
    *out_list = NULL;
    enum vv_chrome_status status = vv_chrome_key(&ahead, &key);
    if (status == VV_CHROME_DONE && ahead.next >= ahead.end)
        status = VV_CHROME_MORE;
    if (status != VV_CHROME_DONE) {
        cursor->bad_at = ahead.bad_at;
        cursor->bad_why = ahead.bad_why;
        return status;
    }
    for (size_t i = 0; i < sizeof member_lists / sizeof member_lists[0]; i++) {
        if (!is_key(&key, member_lists[i].key) ||
            ahead.text[*ahead.next] != member_lists[i].open)
            continue;
        *out_list = &member_lists[i];
        ahead.next++;
        *cursor = ahead;
    }
    return VV_CHROME_DONE;
}

/* *out_more is false if the input ends here. If out_entered is not NULL, the cursor stays at the
 * first event, and *out_entered is set. */
static enum varve_code read_member(struct vv_chrome_reader *reader, bool *out_more,
                                   bool *out_entered, struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    const char *keep = cursor->text + *cursor->next;
    const struct member_list *list = NULL;
    enum varve_code code = VARVE_OK;
    *out_more = true;
    enum vv_chrome_status status = find_list(cursor, &list);
    if (status == VV_CHROME_DONE && list != NULL) {
        bool is_events = list == &member_lists[0];
        reader->has_events = reader->has_events || is_events;
        if (out_entered != NULL && is_events) {
            *out_entered = true;
            return VARVE_OK;
        }
        VV_TRY(read_list(reader, list->read, list->close, out_more, error));
        reader->is_cut = reader->is_cut || !*out_more;
        return VARVE_OK;
    }
    if (status == VV_CHROME_DONE)
        status = read_fact(reader, &code, error);
    VV_TRY(code);
    if (status == VV_CHROME_BAD)
        return vv_chrome_fail(reader, error);
    if (status == VV_CHROME_DONE)
        return VARVE_OK;
    VV_TRY(vv_chrome_refill(reader, keep, out_more, error));
    reader->is_cut = reader->is_cut || !*out_more;
    return VARVE_OK;
}

/* Reads the members of the object up to its end; or, if out_entered is not NULL, up to its
 * events. */
static enum varve_code read_members(struct vv_chrome_reader *reader, bool *out_is_closed,
                                    bool *out_entered, struct varve_error *error)
{
    bool more = true;
    *out_is_closed = false;
    while (more && !*out_is_closed && (out_entered == NULL || !*out_entered)) {
        *out_is_closed = vv_chrome_closes(&reader->cursor, '}');
        if (!*out_is_closed)
            VV_TRY(read_member(reader, &more, out_entered, error));
    }
    return VARVE_OK;
}

/* Checks that only blanks follow. */
static enum varve_code check_end(struct vv_chrome_reader *reader, struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    bool more = true;
    while (more && cursor->next >= cursor->end)
        VV_TRY(vv_chrome_refill(reader, cursor->text + *cursor->end, &more, error));
    if (cursor->next >= cursor->end)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_CORRUPT,
                      reader->window.offset + (uint64_t)*cursor->next,
                      "'%s': text behind the end of the trace", reader->job->path);
}

enum varve_code vv_chrome_read_events(struct vv_chrome_reader *reader, bool *out_is_closed,
                                      struct varve_error *error)
{
    return read_list(reader, read_event, ']', out_is_closed, error);
}

enum varve_code vv_chrome_read_rest(struct vv_chrome_reader *reader, bool is_object,
                                    struct varve_error *error)
{
    bool is_closed;
    if (is_object) {
        VV_TRY(read_members(reader, &is_closed, NULL, error));
        if (!is_closed)
            return VARVE_OK;
    }
    return check_end(reader, error);
}

enum varve_code vv_chrome_read_head(struct vv_chrome_reader *reader, bool *out_is_object,
                                    struct varve_error *error)
{
    struct vv_chrome_cursor *cursor = &reader->cursor;
    bool is_closed, has_entered = false;
    *out_is_object = cursor->text[*cursor->next] == '{';
    if (cursor->next >= cursor->end)
        return vv_fail_at(error, VARVE_TRUNCATED, reader->window.offset, "'%s' is empty",
                          reader->job->path);
    if (!*out_is_object && cursor->text[*cursor->next] != '[') {
        vv_chrome_bad(cursor, cursor->text + *cursor->next, "[ or { must stand here");
        return vv_chrome_fail(reader, error);
    }
    cursor->next++;
    reader->has_events = !*out_is_object;
    if (!*out_is_object)
        return VARVE_OK;
    VV_TRY(read_members(reader, &is_closed, &has_entered, error));
    return is_closed ? check_end(reader, error) : VARVE_OK;
}
