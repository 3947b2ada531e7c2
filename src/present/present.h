/* SPDX-License-Identifier: Apache-2.0 */
/* present.h — typed tables to bytes: text, JSON, CSV, Markdown. Knows nothing of traces. */
#ifndef VV_PRESENT_PRESENT_H
#define VV_PRESENT_PRESENT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "sheet/sheet.h"

enum vv_form { VV_FORM_TEXT, VV_FORM_JSON, VV_FORM_CSV, VV_FORM_MD };

struct vv_presentation {
    enum vv_form form;
    const char *schema;  /* "varve.report/1"; JSON                                              */
    const char *trace;   /* path as the user knows it; JSON                                     */
    const char *unit;    /* of durations in text and Markdown: "auto", "ns", "us", "ms", "s"    */
    const char *fields;  /* "a,b" or "+c,-d" on `fields_table`; NULL = default                  */
    const char *fields_table; /* the table that `fields` speaks of                              */
    bool color;          /* escape sequences for bold, dim, red                                 */
    bool terminal;       /* bars of block characters, cut to `width`; nothing in CSV that it would obey */
    int width;           /* columns of the terminal; 0 = unlimited                              */
};

/* Prints sheets[0..count) in order. Text: a blank line between blocks, numbers right-aligned, one unit
 * a column, three significant digits, shares in percent with one decimal. JSON: one object
 * {"schema", "trace", "tables": {NAME: {"columns": [{"name","unit","type"}], "rows": [[…]]}}}.
 * CSV: one table; of several, each is headed by a line "# NAME" and separated by a blank one.
 * VARVE_INVALID: `fields` names an unknown column (the nearest is in the message).
 * VARVE_IO: the stream failed. */
enum varve_code vv_present(FILE *stream, const struct vv_presentation *how,
                           const struct vv_sheet *const *sheets, size_t count,
                           struct varve_error *error);

#endif
