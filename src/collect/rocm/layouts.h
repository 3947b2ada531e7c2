/* SPDX-License-Identifier: Apache-2.0 */
/* layouts.h — where the fields of the records of rocprofiler-sdk lie. One table, layouts.c, has
 * them by version: the rest of the collector names fields and knows no offset.
 *
 * Each record says how long it is. Records of kernels and copies are alike from 6.2 on; those of
 * memory moved. A longer record is read as far as it is known, a shorter one is refused. */
#ifndef VV_COLLECT_ROCM_LAYOUTS_H
#define VV_COLLECT_ROCM_LAYOUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vv_rocp_kind { /* of our own: the library numbers them otherwise in each version            */
    VV_ROCP_KERNEL,
    VV_ROCP_COPY,
    VV_ROCP_ALLOCATION,
    VV_ROCP_SCRATCH,
    VV_ROCP_SYMBOL, /* a kernel of a code object                                                 */
    VV_ROCP_STREAM, /* the stream that the thread works for                                      */
    VV_ROCP_AGENT,
    VV_ROCP_KINDS
};

enum vv_rocp_field {
    VV_RF_BYTES, /* of the record itself                                                         */
    VV_RF_OPERATION,
    VV_RF_INTERNAL, VV_RF_EXTERNAL, /* numbers of the work                                       */
    VV_RF_THREAD,
    VV_RF_START, VV_RF_END,
    VV_RF_AGENT, VV_RF_FROM_AGENT,
    VV_RF_QUEUE, VV_RF_KERNEL,
    VV_RF_SCRATCH, VV_RF_SHARED, /* bytes of each thread, of each block                          */
    VV_RF_BLOCK_X, VV_RF_BLOCK_Y, VV_RF_BLOCK_Z,
    VV_RF_THREADS_X, VV_RF_THREADS_Y, VV_RF_THREADS_Z, /* of the whole grid                      */
    VV_RF_SIZE, VV_RF_ADDRESS,
    VV_RF_TEXT, VV_RF_REGISTERS, VV_RF_MORE_REGISTERS,
    VV_RF_STREAM,
    VV_RF_SORT, VV_RF_UNITS, VV_RF_CLOCK_MHZ, VV_RF_ARCHITECTURE, VV_RF_BANKS, VV_RF_BANK_COUNT,
    VV_RF_PRODUCT, VV_RF_NUMBER, VV_RF_VISIBLE, VV_RF_UUID,
    VV_RF_COUNT
};

struct vv_rocp_layout {
    uint16_t needed_bytes; /* 0: this version has no such record                                 */
    struct { uint16_t offset; uint8_t bytes; } fields[VV_RF_COUNT]; /* bytes 0: no such field    */
};

/* `version` is 600 for 0.6.0, 10200 for 1.2.0. NULL: records of this version are not known. */
const struct vv_rocp_layout *vv_rocp_layouts_of(uint32_t version);

/* Events are those of version 1 (sdk.h). */
bool vv_rocp_has_ancestors(uint32_t version);

/* Reads a field of a record that is as long as it says; 0 if the record does not have it. */
uint64_t vv_rocp_field(const struct vv_rocp_layout *layout, const void *record,
                       enum vv_rocp_field field);

/* Does the record say that it has what is needed? */
bool vv_rocp_is_whole(const struct vv_rocp_layout *layout, const void *record);

#endif
