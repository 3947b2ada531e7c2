/* SPDX-License-Identifier: Apache-2.0 */
/* values.h — builds records that name several strings: arguments and collectives, and what they
 * follow. Thread-compatible.
 *
 * The records are built beside the stream and then stored in one place, with one reading of the
 * clock. */
#ifndef VV_RECORD_VALUES_VALUES_H
#define VV_RECORD_VALUES_VALUES_H

#include "record/hot_path.h"
#include "varve/values.h"

enum {
    VV_VALUES_STRINGS_MAX = VV_ARGS_MAX + 3, /* keys; operation, group; name of an activity     */
    VV_VALUES_RECORDS_MAX = 4,
    VV_VALUES_WORDS_MAX = 16 + VV_ARGS_WORDS_MAX + 16 + VV_COLLECTIVE_RANKS_MAX
};

struct vv_values {
    size_t words, record_count, string_count; /* of word[], records[], strings[]               */
    size_t arg_words; /* of `kept` arguments                                                    */
    uint32_t kept;
    uint16_t records[VV_VALUES_RECORDS_MAX]; /* where each begins                               */
    bool is_lost; /* a string has no room: nothing of this can be recorded                      */
    uint32_t track; /* that the records name; 0 = none                                          */
    uint32_t strings[VV_VALUES_STRINGS_MAX];
    uint64_t word[VV_VALUES_WORDS_MAX]; /* the first word of a record is its class              */
};

static inline void vv_values_begin(struct vv_values *values)
{
    values->words = values->record_count = values->string_count = 0;
    values->arg_words = values->kept = 0;
    values->is_lost = false;
    values->track = 0;
}

/* Appends a record of this class without fields; the caller writes its fields behind. */
static inline uint64_t *vv_values_record(struct vv_values *values, uint32_t id, size_t words)
{
    uint64_t *record = &values->word[values->words];
    values->records[values->record_count++] = (uint16_t)values->words;
    values->words += words;
    record[0] = id;
    return record + 1;
}

/* The number of a string, of which the records have to be in the session. NULL is no string. */
uint32_t vv_values_string(struct vv_values *values, const char *text);
/* Appends a varve.args, a varve.texts, or both; a varve.collective. */
void vv_values_args(struct vv_values *values, const struct varve_arg *args, uint32_t count,
                    enum vv_subject subject);
void vv_values_collective(struct vv_values *values, const struct varve_collective_info *info,
                          enum vv_subject subject);

/* Stores the records, or counts them as lost. */
void vv_values_put(struct vv_self *self, const struct vv_values *values);

#endif
