/* SPDX-License-Identifier: Apache-2.0 */
/* birth.h — tells the process that the recorder knows from a child that the recorder was not told
 * of.
 *
 * fork tells the recorder (thread.c). _Fork and the bare system call do not, and their child has
 * its parent's memory with the open packet. The kernel clears one page in children, and a word in
 * that page tells parent and child apart at once, without a system call. The word is part of the
 * epoch that each record compares (recorder.h, vv_epoch). So a child leaves the short way before it
 * has stored anything. A child of vfork shares its parent's memory and does not count as a child
 * here.
 * Where the kernel cannot clear pages, the word stays 0 and such a child is not noticed. */
#ifndef VV_RECORD_STREAM_BIRTH_H
#define VV_RECORD_STREAM_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

#define VV_BIRTH_MARK UINT32_C(0x80000000)

struct vv_birth {
    uint32_t mark; /* VV_BIRTH_MARK; 0 in a child, until vv_birth_certify                       */
    unsigned char rest[4092];
};
extern struct vv_birth vv_birth_page;

/* Makes this process the one that the recorder knows. The lock is held, or there is no other
 * thread. */
void vv_birth_certify(void);
/* Is this process a child that the recorder was not told of? */
bool vv_birth_is_unknown(void);
/* The number of this process, and the number of the calling thread. A child of vfork gets its
 * parent's numbers, because it records into its parent's memory. */
uint64_t vv_birth_pid(void);
uint64_t vv_birth_tid(void);

#endif
