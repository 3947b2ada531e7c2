/* SPDX-License-Identifier: Apache-2.0 */
#include "record/values/values.h"

#include "ctf/layout.h"
#include "record/text_hash.h"

/* ---- strings ---- */

static uint32_t note_string(struct vv_values *values, uint32_t string)
{
    values->is_lost |= string == 0;
    values->strings[values->string_count++] = string;
    return string;
}

uint32_t vv_values_string(struct vv_values *values, const char *text)
{
    return text == NULL ? 0 : note_string(values, vv_string_of(text));
}

static uint32_t key_string(struct varve_key *key)
{
    /* Who finds the number here finds the string, too: another thread may have added it. */
    uint32_t string = __atomic_load_n(&key->state, __ATOMIC_ACQUIRE);
    if (VARVE_UNLIKELY(string == 0)) {
        string = vv_string_of(key->name);
        __atomic_store_n(&key->state, string, __ATOMIC_RELEASE);
    }
    return string;
}

/* ---- arguments ---- */

static uint8_t kept_count(const struct varve_arg *arg)
{
    if (arg->value.integers == NULL)
        return 0;
    return (uint8_t)(arg->count > VV_LIST_MAX ? VV_LIST_MAX : arg->count);
}

/* Says what follows the key; *out_data is where it lies. False: a text, or no such kind. */
static bool measure(const struct varve_arg *arg, struct vv_value *out_value, const void **out_data)
{
    const bool is_list = arg->kind >= VARVE_ARG_INTS;
    const uint8_t count = is_list ? kept_count(arg) : 1;
    *out_value = (struct vv_value){ .kind = (uint8_t)arg->kind };
    *out_data = is_list ? (const void *)arg->value.integers : &arg->value;
    switch (arg->kind) {
    case VARVE_ARG_INT: case VARVE_ARG_UNSIGNED: case VARVE_ARG_BOOL:
    case VARVE_ARG_INTS: case VARVE_ARG_UNSIGNEDS:
        out_value->integers = count;
        return true;
    case VARVE_ARG_REAL: case VARVE_ARG_REALS:
        out_value->reals = count;
        return true;
    default:
        return false;
    }
}

/* A place for an argument of so many words, or NULL: there are too many, or it is too long. */
static uint64_t *take_place(struct vv_values *values, size_t words)
{
    if (values->kept == VV_ARGS_MAX || values->arg_words + words > VV_ARGS_WORDS_MAX)
        return NULL;
    uint64_t *place = &values->word[values->words];
    values->kept++;
    values->arg_words += words;
    values->words += words;
    return place;
}

static bool add_number(struct vv_values *values, const struct varve_arg *arg)
{
    struct vv_value value;
    const void *data;
    if (!measure(arg, &value, &data))
        return false;
    const size_t count = (size_t)value.integers + value.reals;
    uint64_t *place = take_place(values, 1 + count);
    if (place == NULL)
        return false;
    value.key = note_string(values, key_string(arg->key));
    memcpy(place, &value, sizeof value);
    if (count == 1)
        memcpy(place + 1, data, 8);
    else if (count > 0)
        memcpy(place + 1, data, 8 * count);
    return true;
}

static bool add_text(struct vv_values *values, const struct varve_arg *arg)
{
    if (arg->kind != VARVE_ARG_TEXT)
        return false;
    const char *text = arg->value.text != NULL ? arg->value.text : "";
    const uint32_t length = vv_text_cut(text, VV_NAME_BYTES_MAX);
    const size_t words = length / 8 + (length % 8 != 0 || length == 0); /* at least one */
    uint64_t *place = take_place(values, 1 + words);
    if (place == NULL)
        return false;
    place[0] = (uint64_t)(8 * words) << 32 | note_string(values, key_string(arg->key));
    place[words] = 0;
    memcpy(place + 1, text, length);
    return true;
}

/* Appends a record of this class with those arguments that `add` takes, if it takes any. */
VV_INLINE void add_record(struct vv_values *values, uint32_t id, enum vv_subject subject,
                          bool (*add)(struct vv_values *values, const struct varve_arg *arg),
                          const struct varve_arg *args, uint32_t count)
{
    uint64_t *payload = vv_values_record(values, id, 2);
    uint32_t added = 0;
    for (uint32_t i = 0; i < count; i++)
        added += args[i].key != NULL && add(values, &args[i]);
    *payload = (uint64_t)subject << 32 | added;
    if (added == 0) {
        values->record_count--;
        values->words -= 2;
    }
}

void vv_values_args(struct vv_values *values, const struct varve_arg *args, uint32_t count,
                    enum vv_subject subject)
{
    add_record(values, VV_EVENT_ARGS, subject, add_number, args, args == NULL ? 0 : count);
    for (uint32_t i = 0; i < count && args != NULL; i++)
        if (args[i].kind == VARVE_ARG_TEXT) {
            add_record(values, VV_EVENT_TEXTS, subject, add_text, args, count);
            return;
        }
}

/* ---- collectives ---- */

void vv_values_collective(struct vv_values *values, const struct varve_collective_info *info,
                          enum vv_subject subject)
{
    uint32_t ranks = info->ranks == NULL ? 0 : info->rank_count;
    if (ranks > VV_COLLECTIVE_RANKS_MAX)
        ranks = VV_COLLECTIVE_RANKS_MAX;
    const struct vv_collective_payload payload = {
        vv_values_string(values, info->operation),
        vv_values_string(values, info->group),
        info->dtype <= VARVE_BITS ? info->dtype : VARVE_DTYPE_UNKNOWN,
        subject,
        info->rank,
        info->group_size,
        info->peer,
        info->number,
        info->in_elements,
        info->out_elements,
        info->bytes,
        ranks,
    };
    uint64_t *words = vv_values_record(values, VV_EVENT_COLLECTIVE, 1 + sizeof payload / 8 + ranks);
    memcpy(words, &payload, sizeof payload);
    if (ranks > 0)
        memcpy(words + sizeof payload / 8, info->ranks, 8 * (size_t)ranks);
}

/* ---- into the stream ---- */

void vv_values_put(struct vv_self *self, const struct vv_values *values)
{
    const size_t bytes = 8 * values->words;
    if (values->record_count == 0)
        return;
    if (values->is_lost) {
        vv_thread_discard(self, values->record_count);
        return;
    }
    vv_self_in_epoch();
    struct vv_place place =
        vv_reserve_with(self, bytes, values->strings, values->string_count, values->track);
    if (place.words == NULL)
        return;
    /* Until all records are whole, the place looks like one record of unknown length.
     * vv_stream_settle hides such a record. */
    place.words[0] = vv_record_word(VV_EVENT_ARGS, place.ticks);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    memcpy(place.words + 1, values->word + 1, bytes - 8);
    for (size_t i = 1; i < values->record_count; i++)
        place.words[values->records[i]] =
            vv_record_word((uint32_t)values->word[values->records[i]], place.ticks);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    place.words[0] = vv_record_word((uint32_t)values->word[0], place.ticks);
    vv_publish(self, &place, bytes);
}

/* ---- the calls of varve/values.h ---- */

static bool has_range(const struct vv_self *self)
{
    return self->depth > 0 && !vv_is_skipped(self, self->depth);
}

VARVE_API void varve_emit_arg(struct varve_key *key, uint32_t kind, uint64_t bits)
{
    struct vv_self *self = vv_self_in_epoch();
    if (!has_range(self) || key == NULL)
        return;
    struct vv_value value = { key_string(key), (uint8_t)kind, 0, kind != VARVE_ARG_REAL,
                              kind == VARVE_ARG_REAL };
    if (VARVE_UNLIKELY(value.key == 0)) {
        vv_thread_discard(self, 1);
        return;
    }
    vv_self_in_epoch();
    struct vv_place place = vv_reserve_with(self, 32, &value.key, 1, 0);
    if (VARVE_UNLIKELY(place.words == NULL))
        return;
    place.words[0] = vv_record_word(VV_EVENT_ARGS, place.ticks);
    __atomic_signal_fence(__ATOMIC_RELEASE); /* vv_stream_settle */
    place.words[1] = 1;
    memcpy(place.words + 2, &value, sizeof value);
    place.words[3] = bits;
    vv_publish(self, &place, 32);
}

VARVE_API void varve_emit_args(const struct varve_arg *args, uint32_t count)
{
    struct vv_self *self = vv_self_in_epoch();
    struct vv_values values;
    if (!has_range(self) || count == 0)
        return;
    vv_values_begin(&values);
    vv_values_args(&values, args, count, VV_SUBJECT_RANGE);
    vv_values_put(self, &values);
}

VARVE_API void varve_emit_collective(const struct varve_collective_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    struct vv_values values;
    if (!has_range(self) || info == NULL || info->struct_size < sizeof *info)
        return;
    vv_values_begin(&values);
    vv_values_collective(&values, info, VV_SUBJECT_RANGE);
    vv_values_put(self, &values);
}
