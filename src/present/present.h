/* SPDX-License-Identifier: Apache-2.0 */
/* present.h — prints typed tables as text, JSON, CSV or Markdown. Knows nothing about traces. */
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
    const char *trace;   /* path, as the user wrote it; JSON                                    */
    const char *unit;    /* of durations in text and Markdown: "auto", "ns", "us", "ms", "s"    */
    const char *fields;  /* "a,b" or "+c,-d" on `fields_table`; NULL = default                  */
    const char *fields_table; /* the table that `fields` is about                               */
    const char *fluid;   /* text form of table event_summary: Fluid's report, and this is what it
                            says that it is sorted by; NULL = Varve's own form */
    bool color;          /* escape sequences for bold, dim, red                                 */
    /* The output is a terminal: bars are block characters, lines are cut to `width`, and CSV has no
       characters that the terminal would obey. */
    bool terminal;
    int width;           /* columns of the terminal; 0 = unlimited                              */
};

/* Prints sheets[0..count) in order. Text: a blank line between blocks, numbers right-aligned, three
 * significant digits with the unit in the cell, shares in percent with one decimal. JSON: one
 * object {"schema", "trace", "tables": {NAME: {"columns": [{"name","unit","type"}],
 * "rows": [[…]]}}}. CSV: one table; if there are several, a line "# NAME" stands before each, and a
 * blank line between them.
 * VARVE_INVALID: `fields` names an unknown column; the message has the nearest known one.
 * VARVE_IO: the stream failed. */
enum varve_code vv_present(FILE *stream, const struct vv_presentation *how,
                           const struct vv_sheet *const *sheets, size_t count,
                           struct varve_error *error);

#endif
