/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/sources.h"

#include <stdio.h>
#include <string.h>

#include "base/text/nearest.h"

const struct vv_collect_source vv_collect_sources[] = {
#define VV_ROW(name, is_standard, needs, whole, says)                                              \
    { #name, is_standard, VV_NEEDS_##needs, whole, says },
    VV_COLLECT_SOURCES(VV_ROW, VV_ROW)
#undef VV_ROW
};
const size_t vv_collect_source_count = sizeof vv_collect_sources / sizeof *vv_collect_sources;

#define WORD_BYTES 32u

static uint32_t standard(void)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < vv_collect_source_count; i++)
        bits |= (uint32_t)vv_collect_sources[i].is_standard << i;
    return bits;
}

uint32_t vv_collect_bit(const char *name)
{
    for (size_t i = 0; i < vv_collect_source_count; i++)
        if (strcmp(vv_collect_sources[i].name, name) == 0)
            return UINT32_C(1) << i;
    return 0;
}

static enum varve_code no_such_source(const char *word, struct varve_error *error)
{
    const char *names[sizeof vv_collect_sources / sizeof *vv_collect_sources + 3];
    char list[200] = "auto, none";
    size_t count = 0;
    for (size_t i = 0; i < vv_collect_source_count; i++) {
        names[count++] = vv_collect_sources[i].name;
        size_t length = strlen(list);
        snprintf(list + length, sizeof list - length, ", %s", vv_collect_sources[i].name);
    }
    names[count++] = "auto";
    names[count++] = "none";
    names[count] = NULL;
    const char *nearest = vv_nearest(word, names);
    VV_FAIL(error, VARVE_INVALID,
            "nothing to collect is called '%s'%s%s. There are %s; +NAME adds, -NAME leaves out",
            word, nearest != NULL ? "; nearest: " : "", nearest != NULL ? nearest : "", list);
}

/* *any_plain: there was a name without a sign, so only the sources in the list are chosen. */
static enum varve_code take_word(const char *word, uint32_t *wanted, bool *any_plain,
                                 struct varve_error *error)
{
    char sign = *word == '+' || *word == '-' ? *word : '\0';
    const char *name = sign != '\0' ? word + 1 : word;
    uint32_t bits = strcmp(name, "auto") == 0 ? standard() : vv_collect_bit(name);
    if (bits == 0 && strcmp(name, "none") != 0)
        return no_such_source(name, error);
    if (sign == '\0' && !*any_plain)
        *wanted = 0;
    *any_plain = *any_plain || sign == '\0';
    *wanted = sign == '-' ? *wanted & ~bits : *wanted | bits;
    return VARVE_OK;
}

enum varve_code vv_collect_parse(const char *text, uint32_t *out_wanted, struct varve_error *error)
{
    uint32_t wanted = standard();
    bool any_plain = false;
    for (const char *at = text;;) {
        char word[WORD_BYTES];
        size_t length = strcspn(at, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, at);
        VV_TRY(take_word(word, &wanted, &any_plain, error));
        at += length;
        if (*at++ == '\0')
            break;
    }
    *out_wanted = wanted;
    return VARVE_OK;
}
