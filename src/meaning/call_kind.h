/* SPDX-License-Identifier: Apache-2.0 */
/* call_kind.h — what a call of a device's runtime waits for, or starts, and what a device's own record of a wait is: by
 * their names, over CUDA, HIP and Ascend. One table of words in call_kind.c. Thread-safe. */
#ifndef VV_MEANING_CALL_KIND_H
#define VV_MEANING_CALL_KIND_H

/* Those from VV_CALL_AWAITS_DEVICE to VV_CALL_AWAITS_WORK stand for waits. */
enum vv_call_kind {
    VV_CALL_OTHER,
    VV_CALL_AWAITS_DEVICE, /* all work of it */
    VV_CALL_AWAITS_STREAM,
    VV_CALL_AWAITS_EVENT,  /* the host waits */
    VV_CALL_AWAITS_WORK,   /* a stream waits for an event */
    VV_CALL_COPIES,        /* and waits for the copy, where it is no asynchronous one */
    VV_CALL_RECORDS_EVENT,
    VV_CALL_LAUNCHES_KERNEL
};

enum vv_call_kind vv_call_kind(const char *name);

#endif
