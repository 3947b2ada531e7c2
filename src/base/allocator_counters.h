/* SPDX-License-Identifier: Apache-2.0 */
/* allocator_counters.h — names of counters by which an allocator of a device says what it holds and
 * what it has given out. The recorder writes them where the first changes; the reader completes
 * each allocation and release with them. */
#ifndef VV_BASE_ALLOCATOR_COUNTERS_H
#define VV_BASE_ALLOCATOR_COUNTERS_H

#define VV_COUNTER_RESERVED "reserved by the caching allocator (bytes)"
#define VV_COUNTER_GIVEN_OUT "given out by the caching allocator (bytes)"

#endif
