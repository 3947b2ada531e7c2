/* SPDX-License-Identifier: Apache-2.0 */
/* records.h — what the collectors of GPUs have in common where a vendor's library tells of work:
 * one lock for all who read such records, their counts, and work with its arguments. */
#ifndef VV_COLLECT_GPU_RECORDS_H
#define VV_COLLECT_GPU_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/process/launches.h"
#include "varve/device.h"
#include "varve/values.h"

/* One thread reads records at a time, of whatever vendor. */
void vv_gpu_records_lock(void);
void vv_gpu_records_unlock(void);
/* A thread of the parent may have had the lock as it forked; and records that the child is told of
 * are the parent's, too. */
void vv_gpu_records_end_in_child(void);
bool vv_gpu_records_have_ended(void);

/* ---- what became of the records ---- */

enum vv_gpu_taken {
    VV_GPU_TAKEN,
    VV_GPU_UNKNOWN, /* a kind of record that is not known                                        */
    VV_GPU_SHORT,   /* the record ends before what is needed, or says no time: it is lost        */
    VV_GPU_OFF      /* of a call that was made while nothing was recorded                        */
};

struct vv_gpu_counts { /* since the process began; written with the lock, atomic                 */
    uint64_t records;  /* read                                                                   */
    uint64_t dropped;  /* the library had no room for them                                       */
    uint64_t lost;     /* too short, or without times                                            */
    uint64_t unknown;  /* of kinds that are not known                                            */
    uint64_t off;      /* of calls made while nothing was recorded                               */
};

/* Records that were lost are events that the trace counts as lost, too. */
void vv_gpu_count(struct vv_gpu_counts *counts, enum vv_gpu_taken taken);
void vv_gpu_count_dropped(struct vv_gpu_counts *counts, uint64_t dropped);

/* "; 12 records dropped by CUPTI; …": nothing if nothing is missing. Thread-safe. Returns whether
 * work was lost. */
bool vv_gpu_counts_text(const struct vv_gpu_counts *counts, const char *library, char *out_text,
                        size_t bytes);

/* ---- a piece of work with its arguments, with the lock ---- */

#define VV_GPU_ARGS_MAX 8u
#define VV_GPU_LAUNCH_ARGS 4u

struct vv_gpu_args {
    struct varve_arg items[VV_GPU_LAUNCH_ARGS + VV_GPU_ARGS_MAX]; /* those of the launch first   */
    uint32_t count;                                               /* of the others               */
    bool has_launch, is_collective;
    int64_t grid[3], block[3], registers, shared_bytes; /* of a launch                           */
    struct vv_launch_collective told; /* holds the texts of `collective`                         */
    struct varve_collective_info collective;
};

/* No arguments. (An initializer would clear what is only written if there is a collective.) */
static inline void vv_gpu_args_init(struct vv_gpu_args *out_args)
{
    out_args->count = 0;
    out_args->has_launch = out_args->is_collective = false;
}

void vv_gpu_add_int(struct vv_gpu_args *args, struct varve_key *key, int64_t value);

/* What the collector of a communication library has told of the kernel of this launch, if it has
 * told anything. */
void vv_gpu_add_collective(struct vv_gpu_args *args, uint64_t correlation);

/* A kernel with the arguments of its launch alone takes a record of its own class: a short one. */
void vv_gpu_put(const struct varve_activity_info *info, struct vv_gpu_args *args);

#endif
