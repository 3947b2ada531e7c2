/* SPDX-License-Identifier: Apache-2.0 */
/* fork.h — in a forked child, the parent's work on devices is not the child's. */
#ifndef VV_DEVICE_FORK_H
#define VV_DEVICE_FORK_H

/* From now on children are told. Needs no lock. */
void vv_device_fork_watch(void);

#endif
