/* SPDX-License-Identifier: Apache-2.0 */
#include "import/convert.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/shell_word.h"

/* Files of other programs, and the commands that make of FILE what varve reads. */
struct conversion {
    const char *suffix, *magic; /* of the name; first bytes; either may be NULL                  */
    const char *what, *before, *after; /* FILE stands between                                    */
};
static const struct conversion conversions[] = {
    { ".nsys-rep", NULL, "a report of Nsight Systems", "nsys export --type sqlite", "" },
    { ".qdrep", NULL, "a report of Nsight Systems", "nsys export --type sqlite", "" },
    { ".qdstrm", "QDSTRM", "a raw report of Nsight Systems, of which its QdstrmImporter makes a "
      ".nsys-rep", "QdstrmImporter -i", "" },
    { ".ncu-rep", NULL, "Nsight Compute's counters of kernels, without a timeline: record one with "
      "Nsight Systems", "nsys profile --export=sqlite PROGRAM", NULL },
    { ".rocpd", NULL, "a database of rocprofv3", "rocpd convert --output-format pftrace -i", "" },
    { NULL, "PERFILE2", "samples of perf record", "perf script -F "
      "comm,tid,time,period,ip,sym,srcline -i", " > samples.txt" },
};
#define CONVERSION_COUNT (sizeof conversions / sizeof *conversions)

static bool ends_in(const char *path, const char *suffix)
{
    size_t length = strlen(path), bytes = suffix != NULL ? strlen(suffix) : SIZE_MAX;
    return length >= bytes && strcasecmp(path + length - bytes, suffix) == 0;
}

/* The name counts before the first bytes. */
static const struct conversion *find_conversion(const char *path, const char *head,
                                                size_t head_bytes)
{
    for (size_t i = 0; i < CONVERSION_COUNT; i++)
        if (ends_in(path, conversions[i].suffix))
            return &conversions[i];
    for (size_t i = 0; i < CONVERSION_COUNT; i++) {
        size_t bytes = conversions[i].magic != NULL ? strlen(conversions[i].magic) : SIZE_MAX;
        if (head_bytes >= bytes && memcmp(head, conversions[i].magic, bytes) == 0)
            return &conversions[i];
    }
    return NULL;
}

static enum varve_code refuse(const char *path, const struct conversion *conversion,
                              struct varve_error *error)
{
    char *command = NULL;
    size_t bytes;
    FILE *stream = open_memstream(&command, &bytes);
    if (stream == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to say what '%s' is", path);
    fputs(conversion->before, stream);
    if (conversion->after != NULL) {
        putc(' ', stream);
        vv_shell_word_put(stream, path);
        fputs(conversion->after, stream);
    }
    bool is_whole = fclose(stream) == 0;
    (void)vv_fail(error, VARVE_UNSUPPORTED, "'%s' is %s. Make a trace of it first:  %s", path,
                  conversion->what, is_whole ? command : conversion->before);
    free(command);
    return vv_with_next(error, VV_NEXT_IS_SAID, VARVE_UNSUPPORTED);
}

bool vv_is_convertible(const char *path, const char *head, size_t head_bytes)
{
    return find_conversion(path, head, head_bytes) != NULL;
}

enum varve_code vv_refuse_convertible(const char *path, const char *head, size_t head_bytes,
                                      struct varve_error *error)
{
    return refuse(path, find_conversion(path, head, head_bytes), error);
}

enum varve_code vv_refuse_rocpd(const char *path, struct varve_error *error)
{
    return refuse(path, find_conversion(".rocpd", NULL, 0), error);
}
