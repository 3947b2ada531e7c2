/* SPDX-License-Identifier: Apache-2.0 */
/* stream_file.h — the stream files of a trace: their names, where their packets begin, and who
 * writes them (doc/format.md §1, §4). Thread-compatible. */
#ifndef VV_CTF_STREAM_FILE_H
#define VV_CTF_STREAM_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "ctf/layout.h"

/* Is it the name of a stream file: "process.0", "thread.3.1" …? */
bool vv_stream_file_is(const char *name);

/* Reads the packet header at `offset`. False if there is none with possible sizes. */
VV_MUST_USE bool vv_stream_file_packet(int file, uint64_t offset,
                                       struct vv_packet_header *out_header);

enum vv_stream_use {
    VV_STREAM_FREE,   /* nobody else has the file open or mapped */
    VV_STREAM_IN_USE,
    VV_STREAM_UNKNOWN /* the file system cannot tell, or not to this user */
};
enum vv_stream_use vv_stream_file_use(int file);

/* The number of a process's folder "PID" or "PID.N"; 0 for another name. */
long vv_stream_folder_pid(const char *name);
/* Is the process running? A zombie is not. */
bool vv_stream_writer_runs(long pid);

#endif
