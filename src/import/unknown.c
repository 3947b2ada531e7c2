/* SPDX-License-Identifier: Apache-2.0 */
#include "import/unknown.h"

#include <stdio.h>
#include <string.h>

#include "import/convert.h"
#include "import/formats.h"

#define SHOWN_BYTES 10u

/* Files that begin with these bytes are no trace, and a hint how to make a trace of them. */
static const struct { const char *magic; size_t bytes; const char *hint; } hints[] = {
    { "VARVECA1", 8, "what varve keeps of another: name the trace itself" },
    { "\x1f\x8b", 2, "gzip within a compressed file: unpack it first" },
    { "\x28\xb5\x2f\xfd", 4, "zstd within a compressed file: unpack it first" },
    { "\xfd" "7zXZ", 5, "compressed by xz: unpack it first" },
    { "BZh", 3, "compressed by bzip2: unpack it first" },
    { "\x04\x22\x4d\x18", 4, "compressed by lz4: unpack it first" },
    { "PK\x03\x04", 4, "a zip archive: unpack it first" },
    { "\xff\xfe", 2, "UTF-16, it seems: convert it first:  iconv -f UTF-16 -t UTF-8" },
    { "\xfe\xff", 2, "UTF-16, it seems: convert it first:  iconv -f UTF-16 -t UTF-8" },
};

static const char *find_hint(const char *head, size_t head_bytes)
{
    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++)
        if (head_bytes >= hints[i].bytes && memcmp(head, hints[i].magic, hints[i].bytes) == 0)
            return hints[i].hint;
    return NULL;
}

/* Shows the first bytes to people: printable ASCII as it is, other bytes as C writes them. */
static void show_head(const char *head, size_t head_bytes, char *out, size_t bytes)
{
    size_t length = 0;
    out[0] = '\0';
    for (size_t i = 0; i < head_bytes && i < SHOWN_BYTES; i++) {
        unsigned char byte = (unsigned char)head[i];
        bool is_plain = byte >= ' ' && byte < 127 && byte != '"' && byte != '\\';
        length += (size_t)snprintf(out + length, bytes - length, is_plain ? "%c" : "\\x%02x", byte);
    }
}

enum varve_code vv_refuse_unknown(const char *path, bool is_folder, const char *head,
                                  size_t head_bytes, struct varve_error *error)
{
    char known[380] = "", shown[SHOWN_BYTES * 4 + 1], why[sizeof shown + 64];
    const char *hint = find_hint(head, head_bytes);
    if (!is_folder && vv_is_convertible(path, head, head_bytes))
        return vv_refuse_convertible(path, head, head_bytes, error);
    vv_formats_list(known, sizeof known);
    show_head(head, head_bytes, shown, sizeof shown);
    if (is_folder)
        snprintf(why, sizeof why, "a folder without metadata");
    else if (head_bytes == 0)
        snprintf(why, sizeof why, "the file is empty");
    else if (hint != NULL)
        snprintf(why, sizeof why, "%s", hint);
    else
        snprintf(why, sizeof why, "first bytes: \"%s\"", shown);
    (void)vv_fail(error, VARVE_UNSUPPORTED, "'%s' is not a trace that varve knows (%s); known: %s",
                  path, why, known);
    return vv_with_next(error, hint != NULL ? VV_NEXT_IS_SAID : VV_NEXT_BY_CODE,
                        VARVE_UNSUPPORTED);
}
