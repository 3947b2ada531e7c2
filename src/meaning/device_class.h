/* SPDX-License-Identifier: Apache-2.0 */
/* device_class.h — what kind of work a device does: doc/metrics.md §8, over CUDA, ROCm, Ascend, MTIA and TPU.
 *
 * By the kind and layer that the importer found, then by name: one table of words in device_class.c.
 * Thread-compatible. */
#ifndef VV_MEANING_DEVICE_CLASS_H
#define VV_MEANING_DEVICE_CLASS_H

#include "model/model.h"

enum vv_device_class {
    VV_CLASS_COMPUTE, VV_CLASS_COMM, VV_CLASS_COPY, VV_CLASS_SET,
    VV_CLASS_COUNT,
    VV_CLASS_NONE = VV_CLASS_COUNT /* it waits, or marks an instant: no work */
};

/* "computation", "communication", "memcpy", "memset". */
const char *vv_device_class_text(enum vv_device_class class);

/* Of a kernel, copy or set. `by_name` remembers by string what the words said: as many bytes as the model has
 * strings, zeros at first. */
enum vv_device_class vv_device_class_of(const struct vv_model *model, uint32_t activity, uint8_t *by_name);

#endif
