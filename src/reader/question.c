/* SPDX-License-Identifier: Apache-2.0 */
/* question.c — the caller's question as ours. What the command line checks, is checked here. */
#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"
#include "reader/handles.h"

static bool is_among(const char *text, size_t length, const char *const *words)
{
    for (size_t i = 0; words[i] != NULL; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* Words with commas between; NULL is none. */
static enum varve_code check_words(const char *what, const char *field, const char *text,
                                   const char *const *words, struct varve_error *error)
{
    while (text != NULL) {
        char word[64];
        size_t length = strcspn(text, ",");
        if (!is_among(text, length, words)) {
            snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : 60), text);
            const char *nearest = vv_nearest(word, words);
            VV_FAIL(error, VARVE_INVALID, "%s: %s cannot be '%s'%s%s", what, field, word,
                    nearest != NULL ? ". Nearest: " : "", nearest != NULL ? nearest : "");
        }
        text = text[length] == ',' ? text + length + 1 : NULL;
    }
    return VARVE_OK;
}

enum varve_code vv_question_read(const struct varve_question *question, const char *what,
                                 struct vv_question *out_question, struct varve_error *error)
{
    const uint32_t known = VARVE_QUESTION_WARM_UP | VARVE_QUESTION_BREAK_CYCLES;
    struct varve_question ours;
    VV_TRY(vv_sized_take(question, sizeof ours, &ours, sizeof ours, what, error));
    if ((ours.flags & ~known) != 0)
        VV_FAIL(error, VARVE_UNSUPPORTED, "%s: flags has unknown bits (%#x)", what,
                ours.flags & ~known);
    if (ours.top < 0 || ours.instance < 0 || ours.hops < 0)
        VV_FAIL(error, VARVE_INVALID, "%s: top, instance or hops is below 0", what);
    VV_TRY(check_words(what, "by", ours.by, vv_question_groupings, error));
    VV_TRY(check_words(what, "compat", ours.compat, vv_question_rules, error));
    *out_question = (struct vv_question){
        .selection = { .thread = ours.thread, .rank = ours.rank, .device = ours.device,
                       .warm_up = (ours.flags & VARVE_QUESTION_WARM_UP) != 0,
                       .filter = ours.filter },
        .by = ours.by, .sort = ours.sort, .top = ours.top, .full = true, .compat = ours.compat,
        .annotation = ours.annotation, .instance = ours.instance, .scale = ours.scale,
        .of = ours.of, .edges = ours.edges, .around = ours.around,
        .hops = ours.hops > 0 ? ours.hops : 1,
        .break_cycles = (ours.flags & VARVE_QUESTION_BREAK_CYCLES) != 0,
    };
    return vv_selection_steps(&out_question->selection, ours.steps, error);
}
