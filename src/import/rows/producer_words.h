/* SPDX-License-Identifier: Apache-2.0 */
/* producer_words.h — fills columns of the model from words: from the categories and argument keys
 * that producers write (Kineto, Nsight Systems, rocprofv3,
 * rocmProfileData, XSpace). Each column has a table of
 * words. Code behind the model does not know these words.
 *
 * The importer calls it when all has been read, before vv_model_finish. Words are not reliable: if
 * a value has an unexpected form, its column stays blank. The arguments stay too.
 * Thread-compatible. */
#ifndef VV_IMPORT_ROWS_PRODUCER_WORDS_H
#define VV_IMPORT_ROWS_PRODUCER_WORDS_H

#include "model/model.h"

/* Fills the flags of slices and the kinds of flows, by categories and names; and launch_shapes and
 * waits, from the arguments of device work. */
enum varve_code vv_words_to_columns(struct vv_model *model, struct varve_error *error);

/* import/rows/launch_words.c: fills launch_shapes and waits; the function above calls it. First the
 * pieces are read, by as many threads as one likes, each piece once; then they are joined. The
 * result does not depend on the number of pieces. */
struct vv_launch_words;
enum varve_code vv_launch_words_init(struct vv_scratch *scratch, struct vv_model *model,
                                     struct vv_launch_words **out_launches,
                                     struct varve_error *error);
size_t vv_launch_words_pieces(const struct vv_launch_words *launches);
void vv_launch_words_read(struct vv_launch_words *launches, size_t piece);
enum varve_code vv_launch_words_join(struct vv_launch_words *launches, struct varve_error *error);

#endif
