/* SPDX-License-Identifier: Apache-2.0 */
/* args.c — stores arguments as rows of args: all data of an event that has no column. */
#include "import/chrome/number.h"
#include "import/chrome/reader.h"

static bool is_integer_text(const struct vv_chrome_value *value)
{
    return value->scale == 0 && memchr(value->at, 'e', value->length) == NULL &&
           memchr(value->at, 'E', value->length) == NULL;
}

/* An integer beyond int64_t is kept as text, because a double would round it. */
static enum varve_code store_number(struct vv_chrome_reader *reader,
                                    const struct vv_chrome_value *value, uint64_t *out_value,
                                    uint8_t *out_kind, struct varve_error *error)
{
    int64_t integer;
    double real = NAN;
    if (value->kind == VV_CHROME_NUMBER &&
        (value->is_plain ? value->scale == 0 : is_integer_text(value))) {
        if (vv_chrome_plain_integer(value, &integer)) {
            *out_kind = VV_ARG_INT;
            memcpy(out_value, &integer, sizeof integer);
            return VARVE_OK;
        }
        uint32_t id;
        VV_TRY(vv_chrome_text_id(&reader->text, value, &id, error));
        *out_kind = VV_ARG_JSON;
        *out_value = id;
        return VARVE_OK;
    }
    *out_kind = VV_ARG_REAL;
    vv_chrome_real(value, &real);
    memcpy(out_value, &real, sizeof real);
    return VARVE_OK;
}

enum varve_code vv_chrome_store(struct vv_chrome_reader *reader,
                                const struct vv_chrome_value *value, uint64_t *out_value,
                                uint8_t *out_kind, struct varve_error *error)
{
    uint32_t id = 0;
    *out_value = 0;
    switch (value->kind) {
    case VV_CHROME_STRING:
        *out_kind = VV_ARG_TEXT;
        VV_TRY(vv_chrome_text_id(&reader->text, value, &id, error));
        *out_value = id;
        return VARVE_OK;
    case VV_CHROME_TRUE: case VV_CHROME_FALSE:
        *out_kind = VV_ARG_BOOL;
        *out_value = value->kind == VV_CHROME_TRUE;
        return VARVE_OK;
    case VV_CHROME_NULL:
        *out_kind = VV_ARG_NULL;
        return VARVE_OK;
    case VV_CHROME_ARRAY: case VV_CHROME_OBJECT:
        *out_kind = VV_ARG_JSON;
        VV_TRY(vv_chrome_nested_id(&reader->text, value, &id, error));
        *out_value = id;
        return VARVE_OK;
    default:
        return store_number(reader, value, out_value, out_kind, error);
    }
}

enum varve_code vv_chrome_add_arg(struct vv_chrome_reader *reader, uint32_t key,
                                  const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_args *args = &reader->model->args;
    uint64_t stored;
    uint32_t row;
    uint8_t kind;
    VV_TRY(vv_chrome_store(reader, value, &stored, &kind, error));
    if (__builtin_expect(args->table.count < args->table.capacity, 1))
        row = (uint32_t)args->table.count++;
    else
        VV_TRY(vv_model_add_arg(reader->model, &row, error));
    args->key[row] = key;
    args->value[row] = stored;
    args->kind[row] = kind;
    return VARVE_OK;
}

enum varve_code vv_chrome_new_key(struct vv_chrome_reader *reader,
                                  const struct vv_recent_probe *probe, struct vv_recent_text *slot,
                                  struct vv_chrome_key *out_key, struct varve_error *error)
{
    const struct vv_intern *strings = &reader->model->strings;
    struct vv_chrome_value text = { .at = probe->text, .length = probe->length };
    out_key->role = VV_ROLE_NONE;
    VV_TRY(vv_chrome_text_id(&reader->text, &text, &out_key->id, error));
    if (strings->lengths[out_key->id] != probe->length ||
        memchr(probe->text, '\\', probe->length) != NULL)
        return VARVE_OK;
    out_key->role = vv_dialect_role(probe->text, probe->length);
    vv_recent_take(slot, probe, strings->strings[out_key->id], out_key->id, out_key->role);
    return VARVE_OK;
}

/* ---- members of the event that have no column ---- */

static const char *const field_names[VV_FIELD_COUNT] = {
    [VV_FIELD_S] = "s",         [VV_FIELD_SCOPE] = "scope",     [VV_FIELD_ID2] = "id2",
    [VV_FIELD_ID] = "id",       [VV_FIELD_BP] = "bp",           [VV_FIELD_BIND_ID] = "bind_id",
    [VV_FIELD_TDUR] = "tdur",   [VV_FIELD_FLOW_IN] = "flow_in", [VV_FIELD_FLOW_OUT] = "flow_out",
    [VV_FIELD_SF] = "sf",       [VV_FIELD_DUR] = "dur",
};

/* The members that the code for this kind of event has used already. */
static uint32_t used_fields(const struct vv_chrome_reader *reader)
{
    uint32_t used = 0;
    switch (reader->now.phase) {
    case 'X':
        used = vv_chrome_has(&reader->event, VV_FIELD_DUR) ? UINT32_C(1) << VV_FIELD_DUR
                                                           : UINT32_C(1) << VV_FIELD_TDUR;
        if (reader->event.present >> VV_FIELD_BIND_ID & 1)
            used |= UINT32_C(1) << VV_FIELD_FLOW_IN | UINT32_C(1) << VV_FIELD_FLOW_OUT |
                    UINT32_C(1) << VV_FIELD_BIND_ID;
        return used;
    case 'i': case 'I': { /* scope "t", the thread, is the default for marks                    */
        const struct vv_chrome_value *s = &reader->event.fields[VV_FIELD_S];
        bool is_thread = s->kind == VV_CHROME_STRING && s->length == 1 && *s->at == 't';
        return is_thread ? UINT32_C(1) << VV_FIELD_S : 0;
    }
    case 'b': case 'n': case 'e': case 'S': case 'T': case 'p': case 'F':
    case 's': case 't': case 'f':
        return UINT32_C(1) << VV_FIELD_ID | UINT32_C(1) << VV_FIELD_ID2 |
               UINT32_C(1) << VV_FIELD_SCOPE | UINT32_C(1) << VV_FIELD_BP;
    case 'C':
        return UINT32_C(1) << VV_FIELD_ID;
    default:
        return 0;
    }
}

static enum varve_code add_frame(struct vv_chrome_reader *reader,
                                 const struct vv_chrome_value *value, struct varve_error *error)
{
    struct vv_args *args = &reader->model->args;
    struct vv_chrome_value text = *value;
    uint32_t id, row;
    if (value->kind > VV_CHROME_NUMBER)
        return VARVE_OK;
    VV_TRY(vv_chrome_text_id(&reader->text, &text, &id, error));
    VV_TRY(vv_model_add_arg(reader->model, &row, error));
    VV_TRY(vv_model_text(reader->model, "sf", &args->key[row], error));
    args->value[row] = id;
    args->kind[row] = VV_ARG_TEXT;
    VV_CHROME_PUSH(&reader->frame_args, row, error);
    return VARVE_OK;
}

enum varve_code vv_chrome_add_field_args(struct vv_chrome_reader *reader, struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    uint32_t rest = event->present & ~used_fields(reader);
    if (rest >> VV_FIELD_DUR == 0)
        return VARVE_OK;
    for (int field = VV_FIELD_DUR; field < VV_FIELD_COUNT; field++) {
        uint32_t key;
        if (!(rest >> field & 1))
            continue;
        if (field == VV_FIELD_SF) {
            VV_TRY(add_frame(reader, &event->fields[field], error));
            continue;
        }
        VV_TRY(vv_model_text(reader->model, field_names[field], &key, error));
        VV_TRY(vv_chrome_add_arg(reader, key, &event->fields[field], error));
    }
    return VARVE_OK;
}

/* ---- all arguments of an event ---- */

enum varve_code vv_chrome_bound_args(const struct vv_chrome_reader *reader,
                                     struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    if (event->arg_count <= UINT16_MAX / 2)
        return VARVE_OK;
    return vv_fail_at(error, VARVE_LIMIT,
                      reader->window.offset +
                          (uint64_t)(event->args[0].key.at - reader->window.text),
                      "an event with %zu arguments", event->arg_count);
}

enum varve_code vv_chrome_add_args(struct vv_chrome_reader *reader, uint32_t *out_first,
                                   uint16_t *out_count, struct varve_error *error)
{
    const struct vv_chrome_event *event = &reader->event;
    uint64_t first = reader->model->args.table.count;
    VV_TRY(vv_chrome_bound_args(reader, error));
    for (size_t i = 0; i < event->arg_count; i++) {
        struct vv_chrome_key key;
        VV_TRY(vv_chrome_find_key(reader, i, &key, error));
        VV_TRY(vv_chrome_add_arg(reader, key.id, &event->args[i].value, error));
    }
    VV_TRY(vv_chrome_add_field_args(reader, error));
    uint64_t count = reader->model->args.table.count - first;
    *out_first = count > 0 ? (uint32_t)first : VV_NONE;
    *out_count = (uint16_t)count;
    return VARVE_OK;
}
