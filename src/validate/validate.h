/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h — what is wrong with a trace by the rules of its consumers. doc/validate.md. */
#ifndef VV_VALIDATE_VALIDATE_H
#define VV_VALIDATE_VALIDATE_H

#include "base/text/json.h"
#include "model/model.h"
#include "sheet/sheet.h"

struct vv_validate_options {
    const char *file_name; /* without folders: some consumers look at it                        */
    const char *consumer;  /* "hta", "tensorboard", "perfetto", "pytorch"; NULL or "all" = every one */
};

/* Table "findings", one row a broken rule: rule, consumer, effect, count, and where it is first broken. Reads
 * the text of a Chrome trace; a text that is not JSON is a finding, not a failure. *out_is_refused: some
 * consumer would not take the file. */
enum varve_code vv_validate_chrome(vv_json_source *source, void *context,
                                   const struct vv_validate_options *options, struct vv_sheet *out,
                                   bool *out_is_refused, struct varve_error *error);

/* The same table of any other trace: what its reader kept and counted. */
enum varve_code vv_validate_model(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error);

#endif
