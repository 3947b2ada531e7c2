/* SPDX-License-Identifier: Apache-2.0 */
/* validate.h — finds what breaks the rules of a trace's consumers. doc/validate.md. */
#ifndef VV_VALIDATE_VALIDATE_H
#define VV_VALIDATE_VALIDATE_H

#include "base/text/json.h"
#include "model/model.h"
#include "sheet/sheet.h"

struct vv_validate_options {
    const char *file_name; /* without folders; some consumers need it                           */
    /* "hta", "tensorboard", "perfetto", "pytorch"; NULL or "all" = every one. */
    const char *consumer;
};

/* Makes table "findings", with one row for each broken rule: rule, consumer, effect, count, and the
 * first place. Reads the text of a Chrome trace; if it is not JSON, that is a finding, not a
 * failure. *out_is_refused: at least one consumer would refuse the file. */
enum varve_code vv_validate_chrome(vv_json_source *source, void *context,
                                   const struct vv_validate_options *options, struct vv_sheet *out,
                                   bool *out_is_refused, struct varve_error *error);

/* The same table for any other trace: from what its importer found odd and counted. */
enum varve_code vv_validate_model(const struct vv_model *model, struct vv_sheet *out,
                                  struct varve_error *error);

#endif
