/* SPDX-License-Identifier: Apache-2.0 */
/* cells.h — the memory of one column of a growing table. Thread-compatible.
 *
 * Law: a cell that nobody has written holds the column's blank byte, 0x00 or 0xFF, throughout. Large
 * columns lie in mappings of their own, which grow without copying; there, cells that nobody writes take no
 * memory to speak of, and cells of zeros are backed by huge pages where the system has them. */
#ifndef VV_MODEL_CELLS_H
#define VV_MODEL_CELLS_H

#include <stddef.h>

/* Room for `bytes`, at least those that `cells` has; `cells` is NULL or of this function, and is as before
 * when NULL comes back. The content stays. */
VV_MUST_USE void *vv_cells_grow(void *cells, size_t bytes, unsigned char blank);
void vv_cells_free(void *cells); /* NULL-safe */

/* Many of bytes [first, limit) are about to be written, and from `first` on all are blank still. Blank cells of 0xFF are
 * backed page by small page when they are written: the huge pages that begin there are now backed as a whole. */
void vv_cells_fill(void *cells, size_t first, size_t limit);

#define VV_CELLS_PAGE_BYTES ((size_t)2 << 20)

/* Gives bytes [first, limit) of large cells their memory ahead of their being written, as far as they go. Several threads
 * that write to new memory side by side each fetch the same huge page, and all but one in vain. Thread-safe. */
void vv_cells_back(void *cells, size_t first, size_t limit);

#endif
