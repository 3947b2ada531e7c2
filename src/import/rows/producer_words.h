/* SPDX-License-Identifier: Apache-2.0 */
/* producer_words.h — columns of the model that follow from words: from the categories and argument keys that producers
 * write (Kineto, Nsight Systems, rocprofv3, XSpace). A table of words each; behind the model nobody knows them.
 *
 * For the importer, once all has been read and before vv_model_finish. What words say is no promise: what does not look
 * as it should leaves its column blank. Arguments stay where they are. Thread-compatible. */
#ifndef VV_IMPORT_ROWS_PRODUCER_WORDS_H
#define VV_IMPORT_ROWS_PRODUCER_WORDS_H

#include "model/model.h"

/* Flags of slices and kinds of flows by their categories and names; launch_shapes and waits from arguments of device work. */
enum varve_code vv_words_to_columns(struct vv_model *model, struct varve_error *error);

/* import/rows/launch_words.c: the second half of it. */
enum varve_code vv_words_to_launches(struct vv_model *model, struct varve_error *error);

#endif
