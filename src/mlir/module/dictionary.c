/* SPDX-License-Identifier: Apache-2.0 */
/* dictionary.c — the entries of "{name = value, unit, "quoted name" = value}". */
#include <string.h>

#include "mlir/module/cursor.h"
#include "mlir/module/module.h"
#include "mlir/module/read.h"

/* Past a value: to the comma or the brace behind it. */
static uint64_t value_end(const char *text, uint64_t at, uint64_t end)
{
    struct vv_mlir_module module = { .path = "", .text = text, .bytes = end };
    while (at < end && text[at] != ',' && text[at] != '}') {
        char c = text[at];
        if (c == '"') {
            at = vv_mlir_string_end(text, at, end);
        } else if (c == '(' || c == '[' || c == '{' || (c == '<' && vv_mlir_opens(text, at, end))) {
            if (vv_mlir_skip_brackets(&module, at, &at, NULL) != VARVE_OK)
                return end;
        } else {
            at++;
        }
    }
    return at;
}

static struct vv_mlir_span trimmed(const char *text, uint64_t begin, uint64_t end)
{
    while (end > begin && vv_mlir_is_blank(text[end - 1]))
        end--;
    return (struct vv_mlir_span){ begin, end };
}

/* Reads the entry that begins at *at. False: what stands there up to the comma is none. */
static bool read_entry(const char *text, uint64_t end, uint64_t *at, struct vv_mlir_entry *out)
{
    uint64_t begin = *at;
    bool is_quoted = begin < end && text[begin] == '"';
    uint64_t behind = is_quoted ? vv_mlir_string_end(text, begin, end)
                                : vv_mlir_name_end(text, begin, end);
    out->name = (struct vv_mlir_span){ begin + is_quoted, behind - is_quoted };
    *at = vv_mlir_skip_blanks(text, behind, end);
    out->value = (struct vv_mlir_span){ behind, behind };
    bool is_entry = behind > begin && out->name.end >= out->name.begin && *at < end &&
                    memchr("=,}", text[*at], 3) != NULL;
    if (*at < end && text[*at] == '=') {
        uint64_t value = vv_mlir_skip_blanks(text, *at + 1, end);
        *at = value_end(text, value, end);
        out->value = trimmed(text, value, *at);
    }
    out->whole = (struct vv_mlir_span){ begin, out->value.end };
    *at = value_end(text, *at, end);
    return is_entry;
}

bool vv_mlir_next_entry(const char *text, struct vv_mlir_span dictionary, uint64_t *at,
                        struct vv_mlir_entry *out_entry)
{
    uint64_t end = dictionary.end;
    if (*at == 0)
        *at = dictionary.begin + 1;
    for (;;) {
        *at = vv_mlir_skip_blanks(text, *at, end);
        if (*at < end && text[*at] == ',')
            *at = vv_mlir_skip_blanks(text, *at + 1, end);
        if (*at >= end || text[*at] == '}')
            return false;
        if (read_entry(text, end, at, out_entry))
            return true;
    }
}

bool vv_mlir_find_entry(const char *text, struct vv_mlir_span dictionary, const char *name,
                        struct vv_mlir_entry *out_entry)
{
    size_t length = strlen(name);
    for (uint64_t at = 0; vv_mlir_next_entry(text, dictionary, &at, out_entry);)
        if (out_entry->name.end - out_entry->name.begin == length &&
            memcmp(text + out_entry->name.begin, name, length) == 0)
            return true;
    return false;
}
