/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/schedule.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/text/nearest.h"

#define FORM "write skip=1,warmup=1,active=3,repeat=2, of which active is a must"

static const char *const words[] = { "skip", "warmup", "active", "repeat", NULL };
static const size_t offsets[] = {
    offsetof(struct vv_schedule, skip), offsetof(struct vv_schedule, warmup),
    offsetof(struct vv_schedule, active), offsetof(struct vv_schedule, repeat),
};

enum vv_schedule_phase vv_schedule_phase(const struct vv_schedule *schedule, uint64_t number)
{
    uint64_t before = (uint64_t)schedule->skip + schedule->warmup;
    uint64_t cycle = before + schedule->active;
    if (schedule->repeat != 0 && number / cycle >= schedule->repeat)
        return VV_SCHEDULE_OVER;
    uint64_t place = number % cycle;
    return place < schedule->skip ? VV_SCHEDULE_SKIP
           : place < before       ? VV_SCHEDULE_WARMUP
                                  : VV_SCHEDULE_ACTIVE;
}

/* Reads one "word=number" of `length` bytes. */
static enum varve_code parse_part(const char *part, size_t length, struct vv_schedule *schedule,
                                  unsigned *given, struct varve_error *error)
{
    char word[16] = "";
    size_t name = strcspn(part, "=,");
    if (name < sizeof word)
        memcpy(word, part, name);
    size_t row = 0;
    while (words[row] != NULL && strcmp(words[row], word) != 0)
        row++;
    if (words[row] == NULL) {
        const char *nearest = vv_nearest(word, words);
        (void)vv_fail(error, VARVE_INVALID, "the schedule has no word '%.*s'%s%s: " FORM, (int)name,
                      part, nearest != NULL ? ". Nearest: " : "", nearest != NULL ? nearest : "");
        return vv_with_next(error, nearest != NULL ? VV_NEXT_IS_SAID : VV_NEXT_BY_CODE,
                            VARVE_INVALID);
    }
    uint64_t value = 0;
    size_t digits = name < length ? name + 1 : length;
    bool is_number = digits < length;
    for (; digits < length && is_number; digits++) {
        is_number = part[digits] >= '0' && part[digits] <= '9' && value <= VV_SCHEDULE_STEPS_MAX;
        value = value * 10 + (uint64_t)(part[digits] - '0');
    }
    if (!is_number || value > VV_SCHEDULE_STEPS_MAX)
        VV_FAIL(error, VARVE_INVALID,
                "the schedule's '%.*s' wants a number of steps from 0 to %u: " FORM,
                (int)(length < 60 ? length : 60), part, VV_SCHEDULE_STEPS_MAX);
    if ((*given >> row & 1) != 0)
        VV_FAIL(error, VARVE_INVALID, "the schedule says '%s' twice", word);
    *given |= 1u << row;
    uint32_t steps = (uint32_t)value;
    memcpy((char *)schedule + offsets[row], &steps, sizeof steps);
    return VARVE_OK;
}

enum varve_code vv_schedule_parse(const char *text, struct vv_schedule *out_schedule,
                                  struct varve_error *error)
{
    struct vv_schedule schedule = { 0 };
    unsigned given = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        VV_TRY(parse_part(text, length, &schedule, &given, error));
        if (text[length] == '\0')
            break;
        text += length + 1;
    }
    if (schedule.active == 0)
        VV_FAIL(error, VARVE_INVALID, "the schedule records no step: " FORM);
    *out_schedule = schedule;
    return VARVE_OK;
}
