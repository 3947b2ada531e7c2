/* SPDX-License-Identifier: Apache-2.0 */
/* words.h — the words of a command, and what a process that ended means for its candidate. */
#ifndef VV_MLIR_TUNE_WORDS_H
#define VV_MLIR_TUNE_WORDS_H

#include "mlir/tune/tuning.h"

enum { VV_TUNE_WORDS_MAX = 250 };

struct vv_tune_words {
    const char *items[VV_TUNE_WORDS_MAX + 1]; /* NULL at the end                                 */
    size_t count;
};

enum varve_code vv_tune_word(struct vv_tune_words *words, const char *word,
                             struct varve_error *error);
/* Each of the words that blanks separate. */
enum varve_code vv_tune_flags(struct vv_tune_words *words, struct vv_tuning *tuning,
                              const char *flags, struct varve_error *error);
/* "TOOL --device=… --module=… --function=… --input=…" */
enum varve_code vv_tuning_of_program(struct vv_tuning *tuning, const char *tool,
                                     const struct vv_tune_candidate *candidate,
                                     struct vv_tune_words *words, struct varve_error *error);
/* Sets the candidate's state and reason if the process failed. VARVE_STATE: it was stopped. */
enum varve_code vv_tuning_judge(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                const struct vv_tune_ended *ended, enum vv_tune_state state,
                                const char *log_path, struct varve_error *error);

#endif
