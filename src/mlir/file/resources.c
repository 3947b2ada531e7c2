/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/file/resources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

#define LISTED_MAX 5

enum varve_code vv_mlir_resources_add(struct vv_mlir_resources *resources,
                                      struct vv_mlir_resource resource,
                                      struct varve_error *error)
{
    VV_TRY(vv_array_reserve(&resources->items, &resources->capacity, resources->count + 1,
                            sizeof resource, error));
    resources->items[resources->count++] = resource;
    return VARVE_OK;
}

void vv_mlir_resources_deinit(struct vv_mlir_resources *resources)
{
    free(resources->items);
    *resources = (struct vv_mlir_resources){ 0 };
}

/* ---- text ---- */

/* The section, if the text ends with one. Its strings are hexadecimal, so that the last "{-#" of
 * the file is where it begins. */
static const char *find_section(const char *text, uint64_t bytes)
{
    while (bytes > 0 && strchr(" \t\r\n", text[bytes - 1]) != NULL)
        bytes--;
    if (bytes < 6 || memcmp(text + bytes - 3, "#-}", 3) != 0)
        return NULL;
    for (uint64_t end = bytes - 3; end > 0;) {
        const char *at = memrchr(text, '{', end);
        if (at == NULL)
            return NULL;
        if (at[1] == '-' && at[2] == '#')
            return at;
        end = (uint64_t)(at - text);
    }
    return NULL;
}

struct section {
    const char *text;
    uint64_t at, bytes;
};

/* A word, or what stands between quotes; empty if neither is there. Moves behind it. */
static struct vv_mlir_word take_word(struct section *section)
{
    const char *from = section->text + section->at, *end = section->text + section->bytes;
    if (from < end && *from == '"') {
        const char *quote = from + 1;
        while (quote < end && *quote != '"')
            quote += *quote == '\\' && quote + 1 < end ? 2 : 1;
        section->at = (uint64_t)((quote < end ? quote + 1 : end) - section->text);
        return (struct vv_mlir_word){ from + 1, (uint64_t)(quote - from - 1) };
    }
    const char *at = from;
    while (at < end && strchr(" \t\r\n:,{}\"#", *at) == NULL)
        at++;
    section->at = (uint64_t)(at - section->text);
    return (struct vv_mlir_word){ from, (uint64_t)(at - from) };
}

/* owner: { key: value, … } stands two brackets deep: dialect_resources: { builtin: { w: "0x…" } }.
 * A word is a key where ':' follows. */
static enum varve_code read_section(struct section *section,
                                    struct vv_mlir_resources *resources, struct varve_error *error)
{
    struct vv_mlir_word owner = { section->text, 0 };
    int depth = 0;
    while (section->at < section->bytes) {
        char c = section->text[section->at];
        if (c == '#') /* "#-}" */
            return VARVE_OK;
        if (c == '{' || c == '}')
            depth += c == '{' ? 1 : -1;
        if (strchr(" \t\r\n:,{}", c) != NULL) {
            section->at++;
            continue;
        }
        struct vv_mlir_word word = take_word(section);
        uint64_t next = section->at;
        while (next < section->bytes && strchr(" \t\r\n", section->text[next]) != NULL)
            next++;
        if (next >= section->bytes || section->text[next] != ':')
            continue;
        if (depth == 1)
            owner = word;
        else if (depth == 2)
            VV_TRY(vv_mlir_resources_add(resources, (struct vv_mlir_resource){ owner, word },
                                         error));
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_resources_read(const char *text, uint64_t bytes,
                                       struct vv_mlir_resources *out_resources,
                                       struct varve_error *error)
{
    struct vv_mlir_resources resources = { 0 };
    const char *begin = find_section(text, bytes);
    if (begin != NULL) {
        struct section section = { text, (uint64_t)(begin - text) + 3, bytes };
        enum varve_code code = read_section(&section, &resources, error);
        if (code != VARVE_OK) {
            vv_mlir_resources_deinit(&resources);
            return code;
        }
    }
    *out_resources = resources;
    return VARVE_OK;
}

/* ---- what is lost ---- */

static int compare_words(struct vv_mlir_word a, struct vv_mlir_word b)
{
    uint64_t shorter = a.bytes < b.bytes ? a.bytes : b.bytes;
    int order = shorter == 0 ? 0 : memcmp(a.text, b.text, shorter);
    return order != 0 ? order : (a.bytes > b.bytes) - (a.bytes < b.bytes);
}

static int compare(const void *a, const void *b)
{
    const struct vv_mlir_resource *one = a, *other = b;
    int order = compare_words(one->owner, other->owner);
    return order != 0 ? order : compare_words(one->key, other->key);
}

size_t vv_mlir_resources_lost(struct vv_mlir_resources *before, struct vv_mlir_resources *after,
                              char *list, size_t list_bytes)
{
    size_t lost = 0, used = 0;
    if (before->count > 0)
        qsort(before->items, before->count, sizeof *before->items, compare);
    if (after->count > 0)
        qsort(after->items, after->count, sizeof *after->items, compare);
    list[0] = '\0';
    for (size_t i = 0, j = 0; i < before->count; i++) {
        while (j < after->count && compare(&after->items[j], &before->items[i]) < 0)
            j++;
        if (j < after->count && compare(&after->items[j], &before->items[i]) == 0)
            continue;
        const struct vv_mlir_word *key = &before->items[i].key;
        if (lost++ < LISTED_MAX && used < list_bytes) {
            int bytes = snprintf(list + used, list_bytes - used, "%s%.*s", lost > 1 ? ", " : "",
                                 (int)(key->bytes < 100 ? key->bytes : 100), key->text);
            used += bytes > 0 ? (size_t)bytes : 0;
        }
    }
    if (lost > LISTED_MAX && used < list_bytes)
        snprintf(list + used, list_bytes - used, " and %zu more", lost - LISTED_MAX);
    return lost;
}
