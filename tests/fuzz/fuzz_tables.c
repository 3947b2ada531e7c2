/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_tables.c — bytes that describe a model (made_model.h), and a question to all tables
 * (every_table.h). */
#include "every_table.h"
#include "import_laws.h"
#include "made_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define QUESTION_BYTES 64u /* of the input; the rest describes the model                         */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t asked = size < QUESTION_BYTES ? size : QUESTION_BYTES;
    struct draw question = { data, data + asked };
    struct vv_model *model = made_model((struct draw){ data + asked, data + size });
    if (model == NULL)
        return 0;
    laws_of_slices(model);
    laws_of_others(model);
    ask_every_table(model, &question);
    vv_model_destroy(model);
    return 0;
}
