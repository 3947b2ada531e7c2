/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/tune/words.h"

#include <string.h>

enum varve_code vv_tune_word(struct vv_tune_words *words, const char *word,
                             struct varve_error *error)
{
    if (words->count >= VV_TUNE_WORDS_MAX)
        VV_FAIL(error, VARVE_LIMIT, "a command of more than %d words", VV_TUNE_WORDS_MAX);
    words->items[words->count++] = word;
    words->items[words->count] = NULL;
    return VARVE_OK;
}

enum varve_code vv_tune_flags(struct vv_tune_words *words, struct vv_tuning *tuning,
                              const char *flags, struct varve_error *error)
{
    for (const char *at = flags + strspn(flags, " "); *at != '\0'; at += strspn(at, " ")) {
        const char *word;
        size_t length = strcspn(at, " ");
        VV_TUNING_TEXT(&word, tuning, "%.*s", (int)length, at);
        VV_TRY(vv_tune_word(words, word, error));
        at += length;
    }
    return VARVE_OK;
}
