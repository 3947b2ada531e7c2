/* SPDX-License-Identifier: Apache-2.0 */
/* job.h — which part of a distributed job this process is, as its launcher told it: RANK and WORLD_SIZE, or what
 * Open MPI, PMI and Slurm say. */
#ifndef VV_RECORD_JOB_H
#define VV_RECORD_JOB_H

#include "ctf/metadata_write.h"

/* By the environment when the session's folder was made, in this process. Lock held. */
const struct vv_tsdl_job *vv_job(void);

#endif
