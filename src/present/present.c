/* SPDX-License-Identifier: Apache-2.0 */
#include "present/present.h"

#include <errno.h>
#include <string.h>

#include "present/forms.h"

/* VARVE_INVALID if `fields` is about a table that is not printed. */
static enum varve_code check_fields_table(const struct vv_presentation *how,
                                          const struct vv_sheet *const *sheets, size_t count,
                                          struct varve_error *error)
{
    if (how->fields == NULL)
        return VARVE_OK;
    for (size_t i = 0; how->fields_table != NULL && i < count; i++)
        if (strcmp(sheets[i]->name, how->fields_table) == 0)
            return VARVE_OK;
    VV_FAIL(error, VARVE_INVALID, "--fields speaks of table '%s', which is not printed here",
            how->fields_table != NULL ? how->fields_table : "");
}

enum varve_code vv_present(FILE *stream, const struct vv_presentation *how,
                           const struct vv_sheet *const *sheets, size_t count,
                           struct varve_error *error)
{
    static vv_present_form *const forms[] = {
        [VV_FORM_TEXT] = vv_present_text,
        [VV_FORM_JSON] = vv_present_json,
        [VV_FORM_CSV] = vv_present_csv,
        [VV_FORM_MD] = vv_present_md,
    };
    VV_TRY(check_fields_table(how, sheets, count, error));
    vv_present_form *form = how->form == VV_FORM_TEXT && how->fluid != NULL ? vv_present_fluid
                                                                            : forms[how->form];
    VV_TRY(form(stream, how, sheets, count, error));
    if (fflush(stream) != 0 || ferror(stream))
        return vv_fail_errno(error, errno != 0 ? errno : EIO, "cannot write the result");
    return VARVE_OK;
}
