/* SPDX-License-Identifier: Apache-2.0 */
/* birth.h — tells the process that the recorder knows from a child that the recorder was not told
 * of.
 *
 * fork tells the recorder (thread.c). _Fork and the bare system call do not, and their child has
 * its parent's memory with the open packet. The kernel clears one page in children, and a word in
 * that page tells parent and child apart at once, without a system call. The word is part of the
 * epoch that each record compares (recorder.h, vv_epoch). So a child leaves the short way before it
 * has stored anything. A child of vfork shares its parent's memory and does not count as a child
 * here. The word also says whether this process has observers: the same comparison excludes both
 * (recorder.h, vv_epoch_word).
 * Where the kernel cannot clear pages, the word stays 0 and such a child is not noticed. */
#ifndef VV_RECORD_STREAM_BIRTH_H
#define VV_RECORD_STREAM_BIRTH_H

#include <stdbool.h>
#include <stdint.h>

#define VV_BIRTH_MARK UINT64_C(0x80000000)
#define VV_BIRTH_OBSERVED UINT64_C(0x10000000000) /* above all that an epoch and a mark add up to */

struct vv_birth {
    uint64_t word; /* VV_BIRTH_MARK and VV_BIRTH_OBSERVED; 0 in a child, until vv_birth_certify  */
    unsigned char rest[4088];
};
extern struct vv_birth vv_birth_page;

static inline uint64_t vv_birth_word(void)
{
    return __atomic_load_n(&vv_birth_page.word, __ATOMIC_RELAXED);
}

static inline bool vv_is_observed(void)
{
    return (vv_birth_word() & VV_BIRTH_OBSERVED) != 0;
}

/* From now on the process has observers, or has none. Lock held. */
void vv_birth_observe(bool observed);

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
