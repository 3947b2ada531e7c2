/* SPDX-License-Identifier: Apache-2.0 */
/* frames.c — the level by call chains. A module keeps some of the calls through which an operation
 * was reached, innermost first; the profile has them all, those inside the framework, too. So the
 * module's chain is a part of the profile's, in order. Of several such chains the longest counts.
 *
 * Chains of the module are found by their innermost call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/match/matching.h"

/* So many chains are compared for one record at most. */
#define CHAINS_TRIED_MAX 4096
#define CHAIN_MAX 256

static bool is_chain(const void *table, uint32_t row, const void *key)
{
    const struct vv_mlir_matching *matching = table;
    const struct vv_mlir_calls *chain = &matching->chains[row], *other = key;
    return chain->count == other->count &&
           memcmp(matching->calls + chain->first, matching->calls + other->first,
                  chain->count * sizeof *matching->calls) == 0;
}

static uint64_t hash_of(const struct vv_mlir_matching *matching, const struct vv_mlir_calls *chain)
{
    return vv_hash_text(&vv_hash_key, (const char *)(matching->calls + chain->first),
                        chain->count * sizeof *matching->calls);
}

static uint64_t hash_chain(const void *table, uint32_t row)
{
    const struct vv_mlir_matching *matching = table;
    return hash_of(matching, &matching->chains[row]);
}

static enum varve_code call_of(struct vv_mlir_matching *matching, const char *file, uint32_t line,
                               struct vv_mlir_call *out, struct varve_error *error)
{
    char text[512];
    int length = snprintf(text, sizeof text, "%s:%u", vv_mlir_base_name(file), line);
    if (length >= (int)sizeof text)
        length = (int)sizeof text - 1;
    VV_TRY(vv_intern_add(matching->texts, text, (size_t)length, &out->place, error));
    return vv_intern_add(matching->texts, file, strlen(file), &out->file, error);
}

/* ---- chains of the module ---- */

/* Appends the calls of a location behind those that are there; they stay only if their chain is
 * new. */
static enum varve_code read_chain(struct vv_mlir_matching *matching, uint32_t place,
                                  struct vv_mlir_calls *out_chain, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    const struct vv_mlir_place *parts = &module->places[place];
    *out_chain = (struct vv_mlir_calls){ (uint32_t)matching->call_count, 0 };
    for (uint32_t i = 0; i < parts->part_count && out_chain->count < CHAIN_MAX; i++) {
        const struct vv_mlir_part *part = &module->parts[parts->first_part + i];
        if (part->kind != VV_MLIR_FILE || part->line == 0)
            continue;
        VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->calls, &matching->call_capacity,
                                  matching->call_count + out_chain->count + 1, error));
        VV_TRY(call_of(matching, vv_mlir_string(module, part->text), part->line,
                       &matching->calls[out_chain->first + out_chain->count], error));
        out_chain->count++;
    }
    return VARVE_OK;
}

static enum varve_code add_chain(struct vv_mlir_matching *matching, uint32_t place,
                                 uint32_t *out_chain, struct varve_error *error)
{
    struct vv_mlir_calls chain;
    *out_chain = VV_MLIR_NONE;
    VV_TRY(read_chain(matching, place, &chain, error));
    if (chain.count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->chains, &matching->chain_capacity,
                              matching->chain_count + 1, error));
    if (vv_slots_are_full(&matching->chain_slots, matching->chain_count))
        VV_TRY(vv_slots_grow(&matching->chain_slots, (uint32_t)matching->chain_count, hash_chain,
                             matching, "call chains", error));
    uint32_t *slot = vv_slots_at(&matching->chain_slots, hash_of(matching, &chain), is_chain,
                                 matching, &chain);
    if (*slot == 0) {
        matching->chains[matching->chain_count++] = chain;
        matching->call_count += chain.count;
        *slot = (uint32_t)matching->chain_count;
        VV_TRY(vv_mlir_list_add(&matching->chain_starts, matching->calls[chain.first].place,
                                (uint32_t)matching->chain_count - 1, error));
    }
    *out_chain = *slot - 1;
    return VARVE_OK;
}

enum varve_code vv_mlir_index_frames(struct vv_mlir_matching *matching, struct varve_error *error)
{
    const struct vv_mlir_module *module = matching->module;
    uint32_t *chain_of_place;
    matching->frames_asked = VV_MLIR_NONE;
    if (matching->profile->frame_count == 0)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &chain_of_place, module->place_count, error));
    matching->chain_of_place = chain_of_place;
    for (uint32_t place = 0; place < module->place_count; place++)
        VV_TRY(add_chain(matching, place, &chain_of_place[place], error));
    for (uint32_t op = 0; op < module->op_count; op++) {
        uint32_t place = module->ops[op].place;
        if (place != VV_MLIR_NONE && chain_of_place[place] != VV_MLIR_NONE)
            VV_TRY(vv_mlir_list_add(&matching->chain_ops, chain_of_place[place], op, error));
    }
    VV_TRY(vv_mlir_list_finish(&matching->chain_starts, error));
    return vv_mlir_list_finish(&matching->chain_ops, error);
}

/* ---- a record's chain ---- */

/* The last folder of a path, and the file. */
static const char *last_two(const char *path)
{
    const char *base = vv_mlir_base_name(path), *at = base > path ? base - 1 : path;
    while (at > path && at[-1] != '/')
        at--;
    return at;
}

/* Profile and module may name a file from different folders, or have been made on different
 * machines: one path ends with the other, or both have the same last folder. */
static bool is_same_file(const struct vv_mlir_matching *matching, uint32_t a, uint32_t b)
{
    if (a == b)
        return true;
    const struct vv_intern *texts = matching->texts;
    uint32_t longer = texts->lengths[a] > texts->lengths[b] ? a : b, shorter = longer == a ? b : a;
    size_t rest = texts->lengths[longer] - texts->lengths[shorter];
    const char *text = vv_intern_text(texts, longer), *other = vv_intern_text(texts, shorter);
    bool is_end = rest > 0 && text[rest - 1] == '/' && strcmp(text + rest, other) == 0;
    return is_end || (strchr(other, '/') != NULL && strcmp(last_two(text), last_two(other)) == 0);
}

static bool is_part(const struct vv_mlir_matching *matching, const struct vv_mlir_calls *chain,
                    const struct vv_mlir_call *calls, uint32_t count)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count && found < chain->count; i++) {
        const struct vv_mlir_call *wanted = &matching->calls[chain->first + found];
        found += calls[i].place == wanted->place &&
                 is_same_file(matching, calls[i].file, wanted->file);
    }
    return found == chain->count;
}

/* The longest chains of the module that are part of these calls, into frames_found. */
static enum varve_code longest_parts(struct vv_mlir_matching *matching,
                                     const struct vv_mlir_call *calls, uint32_t count,
                                     struct varve_error *error)
{
    uint32_t longest = 1, tried = 0;
    matching->frames_found_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct vv_mlir_ops chains = vv_mlir_list_of(&matching->chain_starts, calls[i].place);
        for (size_t j = 0; j < chains.count && tried < CHAINS_TRIED_MAX; j++, tried++) {
            const struct vv_mlir_calls *chain = &matching->chains[chains.items[j]];
            if (chain->count < longest || !is_part(matching, chain, calls + i, count - i))
                continue;
            if (chain->count > longest)
                matching->frames_found_count = 0;
            longest = chain->count;
            VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->frames_found,
                                      &matching->frames_found_capacity,
                                      matching->frames_found_count + 1, error));
            matching->frames_found[matching->frames_found_count++] = chains.items[j];
        }
    }
    return VARVE_OK;
}

static enum varve_code read_calls(struct vv_mlir_matching *matching,
                                  const struct vv_mlir_record *record,
                                  struct vv_mlir_call calls[CHAIN_MAX], uint32_t *out_count,
                                  struct varve_error *error)
{
    const struct vv_mlir_frame *frames = &matching->profile->frames[record->first_frame];
    *out_count = 0;
    for (uint32_t i = 0; i < record->frame_count && *out_count < CHAIN_MAX; i++)
        if (frames[i].line != 0)
            VV_TRY(call_of(matching, vv_mlir_record_text(matching, frames[i].file),
                           frames[i].line, &calls[(*out_count)++], error));
    return VARVE_OK;
}

/* Records that share their frames have one answer. */
static enum varve_code ask(struct vv_mlir_matching *matching, const struct vv_mlir_record *record,
                           struct varve_error *error)
{
    struct vv_mlir_call calls[CHAIN_MAX];
    uint32_t count;
    if (matching->frames_asked == record->first_frame &&
        matching->frames_count == record->frame_count)
        return VARVE_OK;
    matching->frames_asked = record->first_frame;
    matching->frames_count = record->frame_count;
    VV_TRY(read_calls(matching, record, calls, &count, error));
    return longest_parts(matching, calls, count, error);
}

static int compare_ops(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

enum varve_code vv_mlir_find_frames(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    size_t count = 0;
    if (row->frame_count == 0)
        return VARVE_OK;
    VV_TRY(ask(matching, row, error));
    if (matching->frames_found_count == 1) {
        *out_ops = vv_mlir_list_of(&matching->chain_ops, matching->frames_found[0]);
        return VARVE_OK;
    }
    for (size_t i = 0; i < matching->frames_found_count; i++) {
        struct vv_mlir_ops ops = vv_mlir_list_of(&matching->chain_ops, matching->frames_found[i]);
        VV_TRY(VV_SCRATCH_RESERVE(matching->scratch, &matching->buffer,
                                  &matching->buffer_capacity, count + ops.count, error));
        if (ops.count > 0)
            memcpy(matching->buffer + count, ops.items, ops.count * sizeof *ops.items);
        count += ops.count;
    }
    if (count > 0)
        qsort(matching->buffer, count, sizeof *matching->buffer, compare_ops);
    *out_ops = (struct vv_mlir_ops){ matching->buffer, count };
    return VARVE_OK;
}

/* How many of the innermost calls are the same. */
static uint32_t count_same(const struct vv_mlir_matching *matching, uint32_t op,
                           const struct vv_mlir_call *calls, uint32_t count)
{
    uint32_t place = matching->module->ops[op].place, same = 0;
    uint32_t row = place != VV_MLIR_NONE ? matching->chain_of_place[place] : VV_MLIR_NONE;
    if (row == VV_MLIR_NONE)
        return 0;
    const struct vv_mlir_calls *chain = &matching->chains[row];
    while (same < count && same < chain->count) {
        const struct vv_mlir_call *own = &matching->calls[chain->first + same];
        if (own->place != calls[same].place || !is_same_file(matching, own->file, calls[same].file))
            break;
        same++;
    }
    return same;
}

enum varve_code vv_mlir_choose_by_frames(struct vv_mlir_matching *matching, uint32_t record,
                                         struct vv_mlir_ops of, struct vv_mlir_ops *out,
                                         struct varve_error *error)
{
    struct vv_mlir_call calls[CHAIN_MAX];
    uint32_t count, most = 1;
    *out = (struct vv_mlir_ops){ matching->buffer, 0 };
    if (matching->chain_of_place == NULL)
        return VARVE_OK;
    VV_TRY(read_calls(matching, &matching->profile->records[record], calls, &count, error));
    for (size_t i = 0; i < of.count; i++) {
        uint32_t same = count_same(matching, of.items[i], calls, count);
        if (same < most)
            continue;
        out->count = same > most ? 0 : out->count;
        most = same;
        matching->buffer[out->count++] = of.items[i];
    }
    return VARVE_OK;
}
