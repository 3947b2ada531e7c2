/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h — which part of a distributed job this process is, as its launcher told it: RANK and WORLD_SIZE, or what
 * Open MPI, PMI and Slurm say. */
#ifndef VV_RECORD_RANK_H
#define VV_RECORD_RANK_H

#include "ctf/metadata_write.h"

/* By the environment when the session's folder was made, in this process. Lock held. */
const struct vv_tsdl_job *vv_job(void);

#endif
