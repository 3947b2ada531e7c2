/* SPDX-License-Identifier: Apache-2.0 */
/* rank.h — the place of this process in a distributed job, as its launcher gave it: RANK and
 * WORLD_SIZE, or the variables of Open MPI, PMI and Slurm. */
#ifndef VV_RECORD_RANK_H
#define VV_RECORD_RANK_H

#include "ctf/metadata_write.h"

/* The job as the environment gave it when this process made the session's folder. Lock held. */
const struct vv_tsdl_job *vv_job(void);

#endif
