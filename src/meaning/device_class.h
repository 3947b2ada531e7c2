/* SPDX-License-Identifier: Apache-2.0 */
/* device_class.h — classes of device work: doc/metrics.md §8, for CUDA, ROCm, Ascend, MTIA and TPU.
 *
 * The kind and layer that the importer found decide first, then the name. The table of words is in
 * device_class.c. Thread-compatible. */
#ifndef VV_MEANING_DEVICE_CLASS_H
#define VV_MEANING_DEVICE_CLASS_H

#include "model/model.h"

enum vv_device_class {
    VV_CLASS_COMPUTE, VV_CLASS_COMM, VV_CLASS_COPY, VV_CLASS_SET,
    VV_CLASS_COUNT,
    VV_CLASS_NONE = VV_CLASS_COUNT /* a wait or an instant: no work */
};

/* The name of a class: "computation", "communication", "memcpy", "memset". */
const char *vv_device_class_text(enum vv_device_class class);

/* The class of a kernel, copy or set. `by_name` caches the result of the words for each string: it
 * has as many bytes as the model has strings, all 0 at first. */
enum vv_device_class vv_device_class_of(const struct vv_model *model, uint32_t activity,
                                        uint8_t *by_name);

#endif
