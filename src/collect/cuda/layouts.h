/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.h — where the fields of CUPTI's records lie. One table, layouts.c, has them: the rest of
 * the collector names fields and knows no offset.
 *
 * From 11.8 to 13.5 each version only added fields at the ends of records. So a field has one
 * offset, and it is there if the record is long enough. A longer record is read as far as it is
 * known; a record that ends before what is needed is refused. */
#ifndef VV_COLLECT_CUDA_LAYOUTS_H
#define VV_COLLECT_CUDA_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum vv_cupti_kind { /* as CUPTI numbers them */
    VV_CUPTI_MEMCPY = 1,
    VV_CUPTI_MEMSET = 2,
    VV_CUPTI_CONTEXT = 9,
    VV_CUPTI_KERNEL = 10,
    VV_CUPTI_NAME = 11,
    VV_CUPTI_OVERHEAD = 17,
    VV_CUPTI_MEMCPY_PEERS = 22,
    VV_CUPTI_UNIFIED = 25, /* counters of unified memory                                         */
    VV_CUPTI_EVENT = 36,
    VV_CUPTI_SYNCHRONIZATION = 38,
    VV_CUPTI_MEMORY = 49,
    VV_CUPTI_POOL = 50,    /* operations on memory pools                                         */
    VV_CUPTI_GRAPH = 51,
    VV_CUPTI_KIND_END
};

enum vv_cupti_field {
    VV_F_START,
    VV_F_END,
    VV_F_DEVICE,
    VV_F_CONTEXT,
    VV_F_STREAM,
    VV_F_CORRELATION,
    VV_F_TEXT,           /* address of a NUL-terminated text                                     */
    VV_F_BYTES,
    VV_F_GRID_X, VV_F_GRID_Y, VV_F_GRID_Z,
    VV_F_BLOCK_X, VV_F_BLOCK_Y, VV_F_BLOCK_Z,
    VV_F_REGISTERS,
    VV_F_SHARED, VV_F_SHARED_DYNAMIC,
    VV_F_GRAPH, VV_F_GRAPH_NODE,
    VV_F_SORT,           /* what kind of copy, of wait, of overhead, of operation on memory      */
    VV_F_FROM, VV_F_TO,  /* kinds of memory                                                      */
    VV_F_FROM_DEVICE, VV_F_TO_DEVICE,
    VV_F_EVENT, VV_F_EVENT_SYNC,
    VV_F_OBJECT, VV_F_THREAD,
    VV_F_ADDRESS,
    VV_F_USED,           /* bytes of a pool that are given out                                   */
    VV_F_COUNT
};

struct vv_cupti_layout {
    uint8_t kind;
    uint16_t needed_bytes; /* a record that is shorter says too little                           */
    struct { uint8_t offset, bytes; } fields[VV_F_COUNT]; /* bytes 0: the kind has no such field */
};

/* NULL: records of this kind are not known. */
const struct vv_cupti_layout *vv_cupti_layout_of(uint32_t kind);

/* Reads a field of a record that is `bytes` long; `absent` if the record does not have it. */
static inline uint64_t vv_cupti_field(const struct vv_cupti_layout *layout, const uint8_t *record,
                                      size_t bytes, enum vv_cupti_field field, uint64_t absent)
{
    const uint8_t at = layout->fields[field].offset, width = layout->fields[field].bytes;
    uint64_t eight;
    uint32_t four;
    uint16_t two;
    if (width == 0 || (size_t)at + width > bytes)
        return absent;
    switch (width) { /* not one memcpy of `width` bytes: that is a call                           */
    case 8: memcpy(&eight, record + at, 8); return eight;
    case 4: memcpy(&four, record + at, 4); return four;
    case 2: memcpy(&two, record + at, 2); return two;
    default: return record[at];
    }
}

#endif
