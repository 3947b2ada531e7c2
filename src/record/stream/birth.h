/* SPDX-License-Identifier: Apache-2.0 */
/* birth.h — is this the process that the recorder knows, or a child that nobody has told it of?
 *
 * fork tells us (thread.c). _Fork and the bare system call do not, and the child has its parent's memory, open
 * packet included. A word in a page that the kernel clears in children tells them apart, at once and without a
 * system call: it is part of the epoch that each record compares (recorder.h, vv_epoch), so a child leaves the
 * short way before it has stored anything. A child of vfork shares its parent's memory, and is no child here.
 * Where the kernel cannot clear pages the word stays 0, and nobody is told apart. */
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

/* This process is known from now on. Lock held, or the only thread. */
void vv_birth_certify(void);
/* Is it a child that nobody has told us of? */
bool vv_birth_is_unknown(void);
/* The numbers of this process and of the calling thread; in a child that shares their memory (vfork) theirs, not its
 * own: what it records is recorded by them. */
uint64_t vv_birth_pid(void);
uint64_t vv_birth_tid(void);

#endif
