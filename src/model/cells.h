/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h — the memory of one column of a growing table. Thread-compatible.
 *
 * Law: every byte of a cell that has not been written is the column's blank byte, 0x00 or 0xFF. A
 * large column has a memory mapping of its own, which grows without copying. There, cells that are
 * never written take almost no memory, and zeroed cells get huge pages where the system has
 * them. */
#ifndef VV_MODEL_CELLS_H
#define VV_MODEL_CELLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes room for `bytes`, never less than `cells` has. `cells` is NULL or a result of this
 * function. The content stays. When NULL comes back, `cells` is unchanged. */
VV_MUST_USE void *vv_cells_grow(void *cells, size_t bytes, unsigned char blank);
void vv_cells_free(void *cells); /* NULL-safe */

/* Call before writing many of the bytes [first, limit); all bytes from `first` on must still be
 * blank. Blank cells of 0xFF get small pages, one at each first write. This function gives the huge
 * pages that begin in the range their memory as a whole. */
void vv_cells_fill(void *cells, size_t first, size_t limit);

/* Is more than one in 64 of the links not blank? Then nearly every page of such links is written,
 * and vv_cells_fill pays. */
bool vv_links_are_dense(const uint32_t *links, uint64_t count);

#define VV_CELLS_PAGE_BYTES ((size_t)2 << 20)

/* Gives bytes [first, limit) of large cells their memory before they are written; what lies beyond
 * the cells is ignored. Without this, several threads that write to new memory side by side all
 * fetch the same huge page, and all but one do so in vain. Thread-safe. */
void vv_cells_back(void *cells, size_t first, size_t limit);

#endif
