/* SPDX-License-Identifier: Apache-2.0 */
/* suffix.c — the level by unique suffix: the profile's name is the end of exactly one name of the
 * module, or the reverse, from a '/' or '.' on. The module's names are sorted by their ends. */
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "mlir/match/matching.h"

/* Of one text, read from its end. < 0: a before b. */
static int compare_ends(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    while (a_bytes > 0 && b_bytes > 0) {
        unsigned char left = (unsigned char)a[--a_bytes], right = (unsigned char)b[--b_bytes];
        if (left != right)
            return left < right ? -1 : 1;
    }
    return (a_bytes > 0) - (b_bytes > 0);
}

struct named { const char *text; size_t bytes; uint32_t id; };

static int compare_named(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    return compare_ends(left->text, left->bytes, right->text, right->bytes);
}

enum varve_code vv_mlir_index_suffixes(struct vv_mlir_matching *matching,
                                       struct varve_error *error)
{
    const struct vv_intern *strings = &matching->module->strings;
    struct named *named;
    size_t count = 0;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &named, matching->names.key_limit, error));
    for (uint32_t id = 0; id < matching->names.key_limit; id++)
        if (vv_mlir_list_of(&matching->names, id).count > 0)
            named[count++] = (struct named){ vv_intern_text(strings, id), strings->lengths[id],
                                             id };
    if (count > 0)
        qsort(named, count, sizeof *named, compare_named);
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &matching->suffixes, count, error));
    for (size_t i = 0; i < count; i++)
        matching->suffixes[i] = named[i].id;
    matching->suffix_count = count;
    vv_scratch_release(matching->scratch, named);
    return VARVE_OK;
}

static bool ends_with(const struct vv_mlir_matching *matching, uint32_t id, const char *end,
                      size_t bytes)
{
    const struct vv_intern *strings = &matching->module->strings;
    return strings->lengths[id] >= bytes &&
           memcmp(vv_intern_text(strings, id) + strings->lengths[id] - bytes, end, bytes) == 0;
}

/* How many names end with the text, at most two, and the first of them. */
static size_t count_ends(const struct vv_mlir_matching *matching, const char *end, size_t bytes,
                         uint32_t *out_id)
{
    const struct vv_intern *strings = &matching->module->strings;
    const uint32_t *sorted = matching->suffixes;
    size_t first = VV_FIRST_NOT(i, 0, matching->suffix_count,
                                compare_ends(vv_intern_text(strings, sorted[i]),
                                             strings->lengths[sorted[i]], end, bytes) < 0);
    size_t count = 0;
    while (count < 2 && first + count < matching->suffix_count &&
           ends_with(matching, sorted[first + count], end, bytes))
        count++;
    if (count > 0)
        *out_id = sorted[first];
    return count;
}

/* The one name that ends with "/text" or ".text"; UINT32_MAX: none, or several. */
static enum varve_code name_ending_with(const struct vv_mlir_matching *matching, const char *text,
                                        size_t bytes, uint32_t *out_id)
{
    char end[1024];
    size_t count = 0;
    *out_id = UINT32_MAX;
    if (bytes + 1 > sizeof end)
        return VARVE_OK;
    memcpy(end + 1, text, bytes);
    for (const char *separator = "/."; *separator != '\0'; separator++) {
        end[0] = *separator;
        count += count_ends(matching, end, bytes + 1, out_id);
    }
    if (count != 1)
        *out_id = UINT32_MAX;
    return VARVE_OK;
}

/* The longest end of the record's name that is a name of the module. */
static uint32_t end_that_is_a_name(const struct vv_mlir_matching *matching, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (*at != '/' && *at != '.')
            continue;
        uint32_t id = vv_intern_find(&matching->module->strings, at + 1, strlen(at + 1));
        if (id != 0 && vv_mlir_list_of(&matching->names, id).count > 0)
            return id;
    }
    return UINT32_MAX;
}

enum varve_code vv_mlir_find_suffix(struct vv_mlir_matching *matching, uint32_t record,
                                    struct vv_mlir_ops *out_ops, struct varve_error *error)
{
    const struct vv_mlir_record *row = &matching->profile->records[record];
    uint32_t name = vv_mlir_called(row), id;
    (void)error;
    if (name == 0 || matching->suffix_count == 0)
        return VARVE_OK;
    const char *text = vv_mlir_record_text(matching, name);
    bool is_one_word = strpbrk(text, "/.") == NULL;
    if (is_one_word && matching->type_of_record[record].family == 0)
        return VARVE_OK; /* says too little */
    VV_TRY(name_ending_with(matching, text, matching->profile->strings.lengths[name], &id));
    if (id == UINT32_MAX)
        id = end_that_is_a_name(matching, text);
    if (id != UINT32_MAX)
        *out_ops = vv_mlir_list_of(&matching->names, id);
    return VARVE_OK;
}
