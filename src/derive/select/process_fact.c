/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/select/process_fact.h"

#include <stdlib.h>
#include <string.h>

#include "model/find.h"

int64_t vv_process_fact(const struct vv_model *model, uint32_t process, const char *name)
{
    const struct vv_facts *facts = &model->facts;
    int64_t value = 0;
    for (uint32_t row = 0; row < facts->table.count; row++)
        if (facts->process[row] == process && facts->kind[row] == VV_ARG_TEXT &&
            strcmp(vv_text_of(model, facts->key[row]), name) == 0)
            value = strtoll(vv_text_of(model, (uint32_t)facts->value[row]), NULL, 10);
    return value > 0 ? value : 0;
}
