/* SPDX-License-Identifier: Apache-2.0 */
/* graph_blocks.h — the repeated block that each node of an unfolded graph is in: table `blocks`. */
#ifndef VV_GRAPH_GRAPH_BLOCKS_H
#define VV_GRAPH_GRAPH_BLOCKS_H

#include "graph/fold/fold.h"
#include "question/question.h"

/* Sets block_of and blocks of the options, whose memory is the scratch's. Ids of nodes are those of
 * graph/build. */
enum varve_code vv_graph_find_blocks(const struct vv_model *model,
                                     const struct vv_question *question, const struct vv_dag *dag,
                                     struct vv_scratch *scratch, struct vv_fold_options *options,
                                     struct varve_error *error);

#endif
