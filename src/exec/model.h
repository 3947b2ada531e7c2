/* SPDX-License-Identifier: Apache-2.0 */
/* model.h — the models that are loaded. As graphs (graph.h), they last as long as the process, and
 * each session that uses one has its record. */
#ifndef VV_EXEC_MODEL_H
#define VV_EXEC_MODEL_H

#include <stdint.h>

/* Makes sure that the model, if it is loaded, has its record and its graph's records in this
 * session. *out_graph is its graph, or 0. */
void vv_loaded_model_meet(uint32_t model, uint32_t *out_graph);

#endif
