/* SPDX-License-Identifier: Apache-2.0 */
/* forms.h — the presenters that vv_present calls, one in each file. Each prints all sheets in its
 * form. vv_present checks once, at the end, whether the stream failed. */
#ifndef VV_PRESENT_FORMS_H
#define VV_PRESENT_FORMS_H

#include "present/present.h"

typedef enum varve_code vv_present_form(FILE *stream, const struct vv_presentation *how,
                                        const struct vv_sheet *const *sheets, size_t count,
                                        struct varve_error *error);

vv_present_form vv_present_text, vv_present_json, vv_present_csv, vv_present_md, vv_present_fluid;

#endif
