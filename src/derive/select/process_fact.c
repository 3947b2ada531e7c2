/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/process_fact.h"

#include <string.h>

#include "base/sum.h"
#include "model/find.h"

const char *vv_process_fact_text(const struct vv_model *model, uint32_t process, const char *name)
{
    const struct vv_facts *facts = &model->facts;
    const char *text = NULL;
    for (uint32_t row = 0; row < facts->table.count; row++)
        if (facts->process[row] == process && facts->kind[row] == VV_ARG_TEXT &&
            strcmp(vv_text_of(model, facts->key[row]), name) == 0)
            text = vv_text_of(model, (uint32_t)facts->value[row]);
    return text;
}

int64_t vv_process_fact(const struct vv_model *model, uint32_t process, const char *name)
{
    const char *text = vv_process_fact_text(model, process, name);
    return text != NULL ? vv_amount(text) : 0;
}
