/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_completions.c — varve completions: prints the completion script for one shell, or the words
 * of a list that such a script asks for. */
#include "cli/pages/help.h"
#include "cli/reading/output.h"

vv_run_verb vv_cmd_completions;

int vv_cmd_completions(const struct vv_arguments *arguments)
{
    struct varve_error error;
    const char *const *words = (const char *const *)arguments->operands;
    size_t count = arguments->operand_count;
    if (count >= 1 && count <= 3 && vv_words_has(words[0])) {
        struct vv_word_request request = { arguments->verbs, words[0], count > 1 ? words[1] : NULL,
                                           count > 2 ? words[2] : NULL };
        return vv_words_put(stdout, &request, &error) == VARVE_OK ? vv_cli_flush(VV_EXIT_DONE)
                                                                   : vv_print_error(&error);
    }
    if (count != 1) {
        (void)vv_fail(&error, VARVE_INVALID, "completions wants one shell: bash, zsh or fish");
        return vv_print_error(&error);
    }
    if (vv_completions_write(stdout, arguments->verbs, arguments->operands[0], &error) != VARVE_OK)
        return vv_print_error(&error);
    return vv_cli_flush(VV_EXIT_DONE);
}
