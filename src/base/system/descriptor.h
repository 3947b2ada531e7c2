/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.h — how libvarve opens files: none of its descriptors is ever 0, 1 or 2.
 *
 * A program may have closed its standard descriptors and still write to them; the system refuses
 * such writes. If a file of libvarve had such a number, even for a microsecond, the program's text
 * would go into that file. So while libvarve opens a file, it fills the free numbers among the
 * three with descriptors that can be neither read nor written. A lint makes sure that libvarve
 * opens files only through these functions. All descriptors close on exec. Async-signal-safe. The
 * functions may change errno. */
#ifndef VV_BASE_SYSTEM_DESCRIPTOR_H
#define VV_BASE_SYSTEM_DESCRIPTOR_H

#include <sys/types.h>

struct perf_event_attr;

/* Like openat; returns 3 or more, or -1 and errno. */
VV_MUST_USE int vv_descriptor_open(int at, const char *name, int flags, mode_t mode);
/* Like openat with O_PATH. The result may have any number, since it can be neither read nor
 * written. */
VV_MUST_USE int vv_descriptor_look(int at, const char *name, int flags);
/* Like vv_descriptor_open, in a folder that vv_descriptor_look has just opened. Cheaper: if the
 * folder's number is 3 or more, 0, 1 and 2 are taken. */
VV_MUST_USE int vv_descriptor_open_in(int folder, const char *name, int flags, mode_t mode);
/* Like pipe2: returns 0, or -1 and errno. */
VV_MUST_USE int vv_descriptor_pipe(int out_ends[2], int flags);
/* Opens an event of the calling thread: perf_event_open(2). Returns 3 or more, or -1 and errno. */
VV_MUST_USE int vv_descriptor_event(struct perf_event_attr *event);

#endif
