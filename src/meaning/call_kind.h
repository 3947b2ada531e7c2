/* SPDX-License-Identifier: Apache-2.0 */
/* call_kind.h — finds by its name what a call of a device's runtime starts or waits for, and what
 * the device's own record of a wait means: for CUDA, HIP, OpenCL and Ascend. The table of words
 * is in call_kind.c. Thread-safe. */
#ifndef VV_MEANING_CALL_KIND_H
#define VV_MEANING_CALL_KIND_H

#include <stdbool.h>

/* The kinds from VV_CALL_AWAITS_DEVICE to VV_CALL_AWAITS_WORK are waits. */
enum vv_call_kind {
    VV_CALL_OTHER,
    VV_CALL_AWAITS_DEVICE, /* waits for all work of the device */
    VV_CALL_AWAITS_STREAM,
    VV_CALL_AWAITS_EVENT,  /* the host waits for an event */
    VV_CALL_AWAITS_WORK,   /* a stream waits for an event */
    VV_CALL_COPIES,        /* copies, and waits for the copy unless it is asynchronous */
    VV_CALL_RECORDS_EVENT,
    VV_CALL_LAUNCHES_KERNEL
};

enum vv_call_kind vv_call_kind(const char *name);

/* Patterns of functions that save a model, with | between. */
#define VV_SAVING_NAMES \
    "torch/serialization.py(*): save|*safetensors*save_file|*checkpoint*.py(*): save*"

/* Does a slice of the host that is called so wait for another thread, or for time to pass? */
bool vv_is_wait(const char *name);

/* Does it wait for work that is done elsewhere, on a device above all: "synchronizeStream", JAX's
 * "try_to_block"? */
bool vv_awaits_work(const char *name);

/* Is what is called so no work of its own? Such a wait, a call that waits for a device, a copy that
 * waits for itself, and a range that only marks the course ("## forward ##", "[memory]"). */
bool vv_is_no_work(const char *name);

#endif
