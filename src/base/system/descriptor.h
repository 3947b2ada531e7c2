/* SPDX-License-Identifier: Apache-2.0 */
/* descriptor.h — how libvarve opens: nothing of ours ever has the number 0, 1 or 2.
 *
 * A program may have closed those, and go on writing to them: the system refuses it. Were a file of ours to get
 * such a number, even for a microsecond, that text would go into it. So while we open, what is free of them is held by
 * descriptors that can be neither read nor written; a lint sees to it that nothing in libvarve opens otherwise.
 * Both close on exec. Async-signal-safe; may change errno. */
#ifndef VV_BASE_SYSTEM_DESCRIPTOR_H
#define VV_BASE_SYSTEM_DESCRIPTOR_H

#include <sys/types.h>

/* As openat; 3 or more, or -1 and errno. */
VV_MUST_USE int vv_descriptor_open(int at, const char *name, int flags, mode_t mode);
/* As openat with O_PATH: what can be neither read nor written may have any number. */
VV_MUST_USE int vv_descriptor_look(int at, const char *name, int flags);
/* As vv_descriptor_open, in a folder that vv_descriptor_look has just opened: cheaper, for its number tells what is free. */
VV_MUST_USE int vv_descriptor_open_in(int folder, const char *name, int flags, mode_t mode);
/* As pipe2: 0, or -1 and errno. */
VV_MUST_USE int vv_descriptor_pipe(int out_ends[2], int flags);

#endif
