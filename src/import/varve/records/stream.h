/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h — the state of one stream while it is decoded. Private to import/varve. */
#ifndef VV_IMPORT_VARVE_RECORDS_STREAM_H
#define VV_IMPORT_VARVE_RECORDS_STREAM_H

#include "import/varve/records/reader.h"

/* The tensors of the last varve.call, in the order of its arguments. There are no bits beyond
 * 64. */
struct vv_last_call {
    uint64_t is_tensor; /* bit i: row i of the operator's inputs is a tensor                    */
    uint64_t has_row;   /* bit i: tensor i has such a row                                       */
    uint32_t slice, op; /* rows; slice is VV_NONE if there was none                             */
    uint32_t first_rows; /* number of rows of the first argument                                */
};

struct vv_stream_reader {
    struct vv_process_reader *process;
    const struct vv_packets *packets;
    const char *path;          /* of the current part                                           */
    uint32_t track;            /* row; VV_NONE until it is needed                               */
    uint64_t ticks;            /* of the last record                                            */
    int64_t time_ns;           /* the same, in ns                                               */
    uint64_t records;
    bool counts_only;          /* records are only measured, not understood                     */
    bool lacks_begin;          /* open ranges may have begun before the first record            */
    VV_ARRAY_OF(struct vv_open_range) open; /* innermost last                                   */
    size_t next_pause;         /* the first pause not before the last record …                  */
    uint64_t next_pause_ticks; /* … and its time; UINT64_MAX: none                              */
    size_t last_work;          /* in devices.work: of the last varve.activity; or SIZE_MAX      */
    struct vv_last_call last_call;
    /* A range had no duration: its nesting or order may differ from the recorded one. */
    bool has_empty;
};

/* A record whose clock has been read. Its first word is followed by payload[0 .. words - 1). */
struct vv_record {
    const struct vv_event_class *class;
    const uint64_t *payload;
    size_t payload_words;
    uint64_t offset; /* offset in the file                                                      */
    uint32_t slice;  /* row: the innermost open range; or VV_NONE                               */
};

/* The instant of a full clock value, which was read at `offset`. */
static inline enum varve_code vv_stream_time(struct vv_stream_reader *stream, uint64_t ticks,
                                             uint64_t offset, int64_t *out_ns,
                                             struct varve_error *error)
{
    if (__builtin_expect(vv_timeline_ns(&stream->process->timeline, ticks, out_ns, NULL) ==
                             VARVE_OK,
                         1))
        return VARVE_OK;
    return vv_fail_at(error, VARVE_CORRUPT, offset,
                      "'%s': clock value %llu is centuries away from now", stream->path,
                      (unsigned long long)ticks);
}

#endif
