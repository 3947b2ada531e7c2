/* SPDX-License-Identifier: Apache-2.0 */
/* tar.h — the members of a tar archive, in order: ustar, GNU's and pax' long names, the headers
 * before POSIX. The archive may be compressed (import/input/source.h).
 *
 * Every header's checksum is checked, and every size against the file before it is used. Nothing is
 * written: unpack.h does. Thread-compatible. */
#ifndef VV_IMPORT_ARCHIVE_TAR_H
#define VV_IMPORT_ARCHIVE_TAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "import/input/source.h"

#define VV_TAR_PATH_BYTES_MAX 4096u

enum vv_tar_kind {
    VV_TAR_FILE, VV_TAR_FOLDER,
    VV_TAR_LINK,    /* symbolic or hard                                                         */
    VV_TAR_SPECIAL, /* a device or FIFO                                                         */
    VV_TAR_SPARSE,  /* a file whose holes are left out                                          */
    VV_TAR_OTHER    /* what says something of the archive, such as its label                    */
};

struct vv_tar_member {
    char path[VV_TAR_PATH_BYTES_MAX]; /* as written in the archive; of unknown origin            */
    enum vv_tar_kind kind;
    uint64_t bytes;                   /* of the content                                         */
    int64_t time_s;                   /* last change, since 1970                                */
};

struct vv_tar {
    struct vv_source *source; /* borrowed                                                        */
    uint64_t offset;          /* of the next byte of the archive, decompressed                   */
    uint64_t limit_bytes;     /* that the archive may be long, decompressed                      */
    bool is_cut;              /* compressed data that ends too early                             */
    uint64_t left, padding;   /* of the present member: bytes of content and behind it           */
    struct vv_tar_member member;
};

/* Does a file begin with a header of tar? */
bool vv_tar_begins(const char *head, size_t head_bytes);

/* `source` is at the begin of the archive. VARVE_LIMIT, later: the archive is longer than
 * `limit_bytes`. */
void vv_tar_init(struct vv_tar *tar, struct vv_source *source, uint64_t limit_bytes);

/* Passes over the rest of the present member, and reads the next one's header into tar->member.
 * *out_has is false at the end of the archive. VARVE_CORRUPT: there is no header.
 * VARVE_TRUNCATED: the archive ends too early. */
enum varve_code vv_tar_next(struct vv_tar *tar, bool *out_has, struct varve_error *error);

/* Reads the next bytes of the present member; *out_bytes is 0 at its end. VARVE_TRUNCATED. */
enum varve_code vv_tar_read(struct vv_tar *tar, void *buffer, size_t bytes, size_t *out_bytes,
                            struct varve_error *error);

#endif
