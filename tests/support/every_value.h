/* SPDX-License-Identifier: Apache-2.0 */
/* every_value.h — arguments of every kind, and collectives with much and with little to say, for
 * tests/programs/every_record.c; and how its journal tells of them. */
#ifndef VV_TESTS_EVERY_VALUE_H
#define VV_TESTS_EVERY_VALUE_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#include "journal.h"
#include "varve/values.h"

#define ARGS 11

VARVE_KEY(count_key, "count");
VARVE_KEY(odd_key, "na\xc3\xafve \"key\"");

/* One of each kind, in `args`; returns how many. */
static uint32_t make_args(struct varve_arg args[ARGS], const char *long_text)
{
    static const int64_t integers[] = { INT64_MIN, -1, INT64_MAX };
    static const uint64_t numbers[200] = { UINT64_MAX, 1 };
    static const double reals[] = { 0.1, INFINITY, -0.0 };
    uint32_t at = 0;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_INT, 0);
    args[at++].value.integer = INT64_MIN;
    args[at] = varve_arg_of(&odd_key, VARVE_ARG_UNSIGNED, 0);
    args[at++].value.number = UINT64_MAX;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_REAL, 0);
    args[at++].value.real = -2.25e300;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_BOOL, 0);
    args[at++].value.number = 1;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_TEXT, 0);
    args[at++].value.text = "na\xc3\xafve \xe5\xb1\x82";
    args[at] = varve_arg_of(&odd_key, VARVE_ARG_TEXT, 0);
    args[at++].value.text = "";
    args[at] = varve_arg_of(&count_key, VARVE_ARG_TEXT, 0);
    args[at++].value.text = long_text;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_INTS, 3);
    args[at++].value.integers = integers;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_UNSIGNEDS, 200);
    args[at++].value.numbers = numbers;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_REALS, 3);
    args[at++].value.reals = reals;
    args[at] = varve_arg_of(&count_key, VARVE_ARG_REALS, 0);
    args[at++].value.reals = reals;
    return at;
}

static const int64_t some_ranks[80] = { 0, 4, -1, INT64_MAX };
static const struct varve_collective_info collectives[] = {
    VARVE_COLLECTIVE_INFO_INIT,
    { sizeof collectives[0], VARVE_F32, "all_reduce", "world", 3, 4, -1, 7, 100, 200, 400,
      some_ranks, 4, 0 },
    { sizeof collectives[0], VARVE_BITS, "send", NULL, 0, UINT64_MAX, 1, INT64_MAX, UINT64_MAX, 1,
      UINT64_MAX, some_ranks, 80, 0 },
};

/* The values of an argument, as a record holds them. */
static void note_arg(struct journal *journal, const struct varve_arg *arg)
{
    FILE *stream = journal->stream;
    bool is_list = arg->kind >= VARVE_ARG_INTS,
         is_real = arg->kind == VARVE_ARG_REAL || arg->kind == VARVE_ARG_REALS;
    const int64_t *values = is_list ? arg->value.integers : &arg->value.integer;
    uint32_t count = is_list ? arg->count : 1;
    fputs("{\"key\": \"", stream);
    write_hex(stream, arg->key->name);
    if (arg->kind == VARVE_ARG_TEXT) {
        fputs("\", \"text\": \"", stream);
        write_hex(stream, arg->value.text);
        fputs("\"}", stream);
        return;
    }
    fprintf(stream, "\", \"kind\": %" PRIu32 ", \"%s\": [", arg->kind,
            is_real ? "bits" : "integers");
    for (uint32_t i = 0; i < count && i < 128; i++)
        fprintf(stream, "%s%" PRId64, i ? ", " : "", values[i]);
    fputs("]}", stream);
}

/* Texts are in a record of their own, which comes second. */
static void note_args(struct journal *journal, const struct varve_arg *args, uint32_t count,
                      int subject)
{
    for (int is_text = 0; is_text < 2; is_text++) {
        bool is_first = true;
        for (uint32_t i = 0; i < count; i++) {
            if ((args[i].kind == VARVE_ARG_TEXT) != is_text)
                continue;
            if (is_first) {
                fprintf(journal->stream, "%s ", journal->thread);
                write_hex(journal->stream, is_text ? "varve.texts" : "varve.args");
                fprintf(journal->stream, " {\"subject\": %d, \"arguments\": [", subject);
            }
            fputs(is_first ? "" : ", ", journal->stream);
            is_first = false;
            note_arg(journal, &args[i]);
        }
        if (!is_first)
            fputs("]}\n", journal->stream);
    }
}

static void note_collective(struct journal *journal, const struct varve_collective_info *info,
                            int subject)
{
    FILE *stream = journal->stream;
    fprintf(stream, "%s ", journal->thread);
    write_hex(stream, "varve.collective");
    fprintf(stream, " {\"operation\": \"%s\", \"group\": \"%s\", \"dtype\": %" PRIu32,
            info->operation != NULL ? info->operation : "", info->group != NULL ? info->group : "",
            info->dtype);
    fprintf(stream, ", \"subject\": %d, \"rank\": %" PRId64 ", \"group_size\": %" PRIu64, subject,
            info->rank, info->group_size);
    fprintf(stream, ", \"peer\": %" PRId64 ", \"number\": %" PRId64 ", \"in_elements\": %" PRIu64,
            info->peer, info->number, info->in_elements);
    fprintf(stream, ", \"out_elements\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"ranks\": [",
            info->out_elements, info->bytes);
    for (uint32_t i = 0; i < info->rank_count && i < 64; i++)
        fprintf(stream, "%s%" PRId64, i ? ", " : "", info->ranks[i]);
    fputs("]}\n", stream);
}

#endif
