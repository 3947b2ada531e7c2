/* SPDX-License-Identifier: Apache-2.0 */
/* strings.c — the texts that records name by numbers. */
#include "import/varve/records/reader.h"

enum varve_code vv_process_string(struct vv_process_reader *process, uint64_t id, uint32_t *out_id,
                                  struct varve_error *error)
{
    *out_id = vv_key_map_get(&process->strings, id);
    if (*out_id != VV_KEY_NONE && *out_id != 0)
        return VARVE_OK;
    /* The record with the name is lost, or the name is empty. */
    return vv_model_text(process->model, "(unnamed)", out_id, error);
}
