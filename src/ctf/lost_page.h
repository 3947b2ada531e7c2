/* SPDX-License-Identifier: Apache-2.0 */
/* lost_page.h — TRACE/lost: records that processes lost while they had no folder of their own to count them in.
 *
 * A page that `varve record` makes before the program starts, or a program that records itself at its session's start.
 * Processes map it when libvarve is loaded, forked children share it, and each adds to it atomically; so what it
 * counts outlives them, however they end. Nothing is ever taken out of it. doc/format.md §12 */
#ifndef VV_CTF_LOST_PAGE_H
#define VV_CTF_LOST_PAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VV_LOST_FILE "lost"
#define VV_LOST_BYTES 4096u
#define VV_LOST_MAGIC UINT64_C(0x54534f4c45565256) /* "VRVELOST" */
#define VV_LOST_VERSION 1u
/* More than any program can have lost: who says so is not believed. */
#define VV_LOST_RECORDS_MAX (UINT64_C(1) << 60)

struct vv_lost_page { /* least significant bytes first                                           */
    uint64_t magic;
    uint32_t version;
    uint32_t os_errno;   /* why the folder could not be made, the last time; 0 = not known       */
    uint64_t records;
    uint64_t processes;  /* that have counted here                                               */
    uint64_t pid;        /* the one that os_errno is of                                          */
};

/* A page in which nothing is counted yet, VV_LOST_BYTES of it. */
void vv_lost_page_init(struct vv_lost_page *page);

/* Makes the file in the open folder. Returns 0 or an errno number: EEXIST if it is there. */
VV_MUST_USE int vv_lost_page_make(int folder, mode_t mode);

struct vv_lost {
    uint64_t records, processes;
    int os_errno;
    bool is_damaged; /* the file is not such a page, or says what cannot be: what it says is not told */
};

/* What is counted; nothing where there is no such file, or one that is being made. */
void vv_lost_page_read(const char *trace, struct vv_lost *out_lost);

/* Nothing is counted in it and nobody has it mapped: it may go. */
bool vv_lost_page_is_done(const char *trace);
/* Then removes it. */
void vv_lost_page_drop(int folder);

#endif
