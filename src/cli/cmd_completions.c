/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_completions.c — varve completions: prints the completion script for one shell, or the words
 * of a list that such a script asks for. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/pages/help.h"
#include "cli/reading/output.h"
#include "import/search.h"

#define LOOKED_AT_MAX 2000 /* a user waits for them                                              */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Prints what begins as the user has typed, a line each: traces, and folders that may hold some. */
static void put_traces(FILE *stream, const char *typed)
{
    char path[PATH_MAX];
    const char *slash = strrchr(typed, '/');
    const char *begin = slash != NULL ? slash + 1 : typed;
    int stem = (int)(begin - typed);
    snprintf(path, sizeof path, "%.*s", stem, typed);
    DIR *folder = opendir(stem > 0 ? path : ".");
    struct dirent *entry;
    for (int looked_at = 0; folder != NULL && looked_at < LOOKED_AT_MAX; looked_at++) {
        if ((entry = readdir(folder)) == NULL)
            break;
        const char *name = entry->d_name;
        int length = snprintf(path, sizeof path, "%.*s%s", stem, typed, name);
        bool is_asked = strncmp(name, begin, strlen(begin)) == 0 &&
                        (name[0] != '.' || *begin == '.');
        if (is_asked && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 &&
            strchr(name, '\n') == NULL && (size_t)length < sizeof path &&
            (is_folder(path) || vv_is_recording(path)))
            fprintf(stream, "%s\n", path);
    }
    if (folder != NULL)
        closedir(folder);
}

vv_run_verb vv_cmd_completions;

int vv_cmd_completions(const struct vv_arguments *arguments)
{
    struct varve_error error;
    const char *const *words = (const char *const *)arguments->operands;
    size_t count = arguments->operand_count;
    if ((count == 1 || count == 2) && strcmp(words[0], "traces") == 0) {
        put_traces(stdout, count > 1 ? words[1] : "");
        return vv_cli_flush(VV_EXIT_DONE);
    }
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
