/* SPDX-License-Identifier: Apache-2.0 */
/* one_gpu.h — which numbers of which processes mean one GPU. Each process numbers its devices anew,
 * by what it may see; drivers give each device an identity (uuid) that is the same for all.
 *
 * Without identities, a number is the same GPU for all processes of a scope. Thread-compatible. */
#ifndef VV_DERIVE_DEVICES_ONE_GPU_H
#define VV_DERIVE_DEVICES_ONE_GPU_H

#include "base/scratch.h"
#include "model/model.h"

/* What was found of each track. */
struct vv_gpu_places {
    const struct vv_model *model;
    uint64_t *places;  /* by track                                                               */
    uint32_t *devices; /* by track: the device that it was found for                             */
};

enum varve_code vv_gpu_places_init(struct vv_gpu_places *out_places, const struct vv_model *model,
                                   struct vv_scratch *scratch, struct varve_error *error);

/* Equal for equal GPUs. `device` is a number of the track's process; VV_NONE: that of the track. */
uint64_t vv_gpu_place(struct vv_gpu_places *places, uint32_t track, uint32_t device);

/* Whose GPU is it that the track's process only watches: *out_device is the number that the other
 * processes give to it, *out_process the one that uses it. VV_NONE: they differ, or there is none.
 * False: nobody else names it, and nothing is written. */
bool vv_gpu_user(const struct vv_model *model, uint32_t track, uint32_t *out_device,
                 uint32_t *out_process);

#define VV_GPU_TEXT_BYTES 64

/* What a track's device is called: as those call it that use it. One that only this process knows,
 * and whose number is another device's elsewhere, is called by its uuid. */
void vv_gpu_text(const struct vv_model *model, uint32_t track, char *out_text, size_t bytes);

/* Names of devices, one for all processes. */
struct vv_gpu_names {
    const struct vv_model *model;
    struct vv_gpu_name { bool is_known; uint32_t device, uuid; } *names; /* by track             */
};

enum varve_code vv_gpu_names_init(struct vv_gpu_names *out_names, const struct vv_model *model,
                                  struct vv_scratch *scratch, struct varve_error *error);

/* The series of a device's counter, which begins with the device, with the name of vv_gpu_text:
 * "cuda:0 device" for "cuda:1 device" of a process that only watches. Returns the series itself, or
 * `text`. */
const char *vv_gpu_series(struct vv_gpu_names *names, uint32_t track, const char *series,
                          char *text, size_t bytes);

#endif
