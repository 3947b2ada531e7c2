/* SPDX-License-Identifier: Apache-2.0 */
/* heap.h — how the command uses malloc. With another C library than glibc, these do nothing. */
#ifndef VV_CLI_LINE_HEAP_H
#define VV_CLI_LINE_HEAP_H

#include <stdint.h>

/* Call before there is a second thread. An analysis frees what the next one takes again, so freed
 * memory is kept: what has gone back to the system comes back as new pages, which are faulted and
 * zeroed. All threads share one heap. The largest blocks go back all the same, because holes
 * between them would count as memory. */
void vv_heap_keep(void);

/* Analyses of a large model take about as much for each of its slices. Makes room for them ahead,
 * in large pages, which take memory only when they are used. */
void vv_heap_make_room(uint64_t slices);

#endif
