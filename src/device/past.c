/* SPDX-License-Identifier: Apache-2.0 */
/* past.c — the calls of varve/past.h: ranges of the host that are over, and what they were.
 *
 * A note is put together on the stack, and then copied into the stream. It names many strings, all
 * of which must be in the session. */
#include "ctf/layout.h"
#include "record/hot_path.h"
#include "record/process_clock.h"
#include "varve/past.h"

#define HEAD_WORDS (sizeof(struct vv_past_note_payload) / 8)
#define STRINGS_MAX 320u

static uint32_t string_of(const char *name)
{
    if (name == NULL)
        name = "";
    uint32_t id = vv_string_known(name);
    if (id == 0 && vv_recorder_lock()) {
        id = vv_string_id(name);
        vv_recorder_unlock();
    }
    return id;
}

static uint32_t lowest_bit(uint32_t layers)
{
    return layers & (0u - layers);
}

static bool is_known(uint32_t clock)
{
    return clock >= VARVE_CLOCK_TICKS && clock <= VARVE_CLOCK_REALTIME;
}

/* 0 for a tick before the session: the program cannot mean it, or did not know. */
static uint64_t within_session(uint32_t clock, int64_t value)
{
    uint64_t begun = __atomic_load_n(&vv_session.begun_ticks, __ATOMIC_RELAXED);
    return clock == VARVE_CLOCK_TICKS && (uint64_t)value < begun ? 0 : (uint64_t)value;
}

/* The raw clock's pairs are written only where they are needed. */
static void want_pairs(struct vv_self *self, uint32_t clock)
{
    if (clock != VARVE_CLOCK_MONOTONIC_RAW || !vv_thread_meet(self, 0, 0) || !vv_recorder_lock())
        return;
    if (vv_session.has_folder)
        vv_process_clock_want_raw();
    vv_recorder_unlock();
}

VARVE_API void varve_emit_past_range(const struct varve_past_range_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    uint32_t strings[2] = { 0 };
    if (info != NULL && info->struct_size >= sizeof *info && is_known(info->clock)) {
        strings[0] = string_of(info->name);
        if (info->subject != NULL && *info->subject != '\0')
            strings[1] = string_of(info->subject);
    }
    if (strings[0] == 0) {
        vv_thread_discard(self, 1);
        return;
    }
    const uint64_t fields[] = { (uint64_t)lowest_bit(info->layer) << 32 | strings[0],
                                (uint64_t)info->clock << 32 | strings[1], info->thread,
                                within_session(info->clock, info->begin),
                                (uint64_t)info->end };
    want_pairs(self, info->clock);
    vv_self_in_epoch();
    struct vv_place place =
        vv_reserve_with(self, 8 + sizeof fields, strings, strings[1] != 0 ? 2 : 1, 0);
    vv_put_fields_at(self, &place, VV_EVENT_PAST_RANGE, fields, sizeof fields / 8);
}

/* ---- notes ---- */

struct note {
    uint64_t words[VV_PAST_NOTE_WORDS_MAX - 1];
    size_t count;
    uint32_t strings[STRINGS_MAX];
    size_t string_count;
    uint64_t value_count;
};

/* 0: the text is empty, there is no room, or no more strings fit. */
static uint32_t name(struct note *note, const char *text)
{
    if (text == NULL || *text == '\0')
        return 0;
    uint32_t id = note->string_count < STRINGS_MAX ? string_of(text) : 0;
    if (id != 0)
        note->strings[note->string_count++] = id;
    return id;
}

/* Begins a value of `words` words. False: it does not fit. */
static bool begin_value(struct note *note, struct vv_past_value *value, const char *key,
                        uint32_t words)
{
    value->words = (uint8_t)words;
    if (note->value_count == VV_PAST_NOTE_VALUES_MAX ||
        note->count + 1 + words > sizeof note->words / 8 || (value->key = name(note, key)) == 0)
        return false;
    memcpy(&note->words[note->count++], value, sizeof *value);
    note->value_count++;
    return true;
}

static bool add_tensor(struct note *note, const char *key, const struct varve_graph_tensor *tensor)
{
    uint32_t rank = tensor->dims == NULL             ? 0
                    : tensor->rank > VV_TENSOR_RANK_MAX ? VV_TENSOR_RANK_MAX
                                                     : tensor->rank;
    struct vv_past_value value = {
        .kind = VARVE_PAST_TENSORS,
        .dtype = tensor->dtype <= VARVE_BITS ? (uint8_t)tensor->dtype : VARVE_DTYPE_UNKNOWN,
        .side = tensor->side == VARVE_OUTPUT,
    };
    if (!begin_value(note, &value, key, 1 + rank))
        return false;
    note->words[note->count++] = name(note, tensor->format);
    for (uint32_t i = 0; i < rank; i++)
        note->words[note->count++] = (uint64_t)tensor->dims[i];
    return true;
}

static bool add_value(struct note *note, const struct varve_past_value *said)
{
    uint32_t count = said->count < VV_PAST_VALUE_WORDS_MAX ? said->count : VV_PAST_VALUE_WORDS_MAX;
    struct vv_past_value value = { .kind = (uint8_t)said->kind };
    if (said->values == NULL)
        count = 0;
    if (said->kind == VARVE_PAST_TENSORS) {
        const struct varve_graph_tensor *tensors = said->values;
        for (uint32_t i = 0; i < count; i++)
            if (!add_tensor(note, said->key, &tensors[i]))
                return false;
        return true;
    }
    if (said->kind > VARVE_PAST_TENSORS || !begin_value(note, &value, said->key, count))
        return false;
    if (said->kind == VARVE_PAST_TEXTS) {
        const char *const *texts = said->values;
        for (uint32_t i = 0; i < count; i++)
            note->words[note->count++] = name(note, texts[i]);
    } else if (count > 0) {
        memcpy(&note->words[note->count], said->values, 8 * (size_t)count);
        note->count += count;
    }
    return true;
}

static bool fill(struct note *note, const struct varve_past_note_info *info)
{
    const struct vv_past_note_payload payload = {
        .name = name(note, info->name), .layer = lowest_bit(info->layer), .flags = info->flags,
        .clock = info->clock, .tid = info->thread,
        .time = (int64_t)within_session(info->clock, info->time),
        .correlation = info->correlation,
    };
    note->count = HEAD_WORDS;
    memcpy(note->words, &payload, sizeof payload);
    bool is_whole = payload.name != 0;
    for (uint32_t i = 0; i < info->value_count && info->values != NULL && is_whole; i++)
        is_whole = add_value(note, &info->values[i]);
    note->words[HEAD_WORDS - 1] = note->value_count;
    return is_whole;
}

VARVE_API void varve_emit_past_note(const struct varve_past_note_info *info)
{
    struct vv_self *self = vv_self_in_epoch();
    struct note note; /* only what is used of it is written */
    note.count = note.string_count = note.value_count = 0;
    bool is_valid = info != NULL && info->struct_size >= sizeof *info && is_known(info->clock);
    /* What does not fit is lost, and the rest is kept. */
    bool is_whole = is_valid && fill(&note, info);
    if (!is_whole)
        vv_thread_discard(self, 1);
    if (!is_valid || note.count < HEAD_WORDS || note.strings[0] == 0 || note.string_count == 0)
        return;
    want_pairs(self, info->clock);
    vv_self_in_epoch();
    struct vv_place place =
        vv_reserve_with(self, 8 + 8 * note.count, note.strings, note.string_count, 0);
    vv_put_fields_at(self, &place, VV_EVENT_PAST_NOTE, note.words, note.count);
}
