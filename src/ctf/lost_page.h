/* SPDX-License-Identifier: Apache-2.0 */
/* lost_page.h — TRACE/lost: counts the records that processes lost while they had no folder of
 * their own to count them in.
 *
 * `varve record` makes this page before the program starts; a program that records itself makes it
 * when its session starts. Processes map the page when libvarve is loaded, forked children share
 * it, and each adds to it atomically. So the counts remain, however the processes end. The counts
 * never decrease. doc/format.md §12 */
#ifndef VV_CTF_LOST_PAGE_H
#define VV_CTF_LOST_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VV_LOST_FILE "lost"
#define VV_LOST_BYTES 4096u
#define VV_LOST_MAGIC UINT64_C(0x54534f4c45565256) /* "VRVELOST" */
#define VV_LOST_VERSION 1u
/* No program can lose more records: a larger number is not believed. */
#define VV_LOST_RECORDS_MAX (UINT64_C(1) << 60)

struct vv_lost_page { /* little-endian                                                           */
    uint64_t magic;
    uint32_t version;
    uint32_t os_errno;   /* why no folder could be made, the last time; 0 = not known            */
    uint64_t records;
    uint64_t processes;  /* number of processes that have counted here                           */
    uint64_t pid;        /* the process that set os_errno                                        */
};

/* Initialises a page, of VV_LOST_BYTES, in which nothing is counted. */
void vv_lost_page_init(struct vv_lost_page *page);

/* Makes the file in the open folder. Returns 0 or an errno number: EEXIST if it exists. */
VV_MUST_USE int vv_lost_page_make(int folder, mode_t mode);

struct vv_lost {
    uint64_t records, processes;
    int os_errno;
    /* The file is no such page, or has impossible numbers; then its numbers are not used. */
    bool is_damaged;
};

/* Reads the counts; zeros if there is no such file, or if it is being made. */
void vv_lost_page_read(const char *trace, struct vv_lost *out_lost);

/* True if nothing is counted in the file and nobody has it mapped: it may be removed. */
bool vv_lost_page_is_done(const char *trace);
/* Removes the file if it may be removed. */
void vv_lost_page_drop(int folder);

#endif
