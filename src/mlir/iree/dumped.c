/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/iree/dumped.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MAX (4u << 20)

char *vv_iree_read_text(const char *path)
{
    char *text = NULL;
    FILE *stream = fopen(path, "r");
    if (stream == NULL)
        return NULL;
    if ((text = malloc(BYTES_MAX)) != NULL)
        text[fread(text, 1, BYTES_MAX - 1, stream)] = '\0';
    fclose(stream);
    return text;
}

/* Behind the word, up to a blank. */
static const char *symbol_behind(const char *text, const char *word, size_t *out_length)
{
    const char *found = strstr(text, word), *at = found != NULL ? strchr(found, '@') : NULL;
    *out_length = at != NULL ? strcspn(at + 1, " ({\n") : 0;
    return *out_length > 0 ? at + 1 : NULL;
}

static bool defines(const char *text, const char *function)
{
    size_t length;
    const char *found = symbol_behind(text, "hal.executable.export ", &length);
    return found != NULL && strlen(function) == length && memcmp(found, function, length) == 0;
}

static char *find(const char *folder, const char *function)
{
    char path[4096], *text = NULL;
    DIR *entries = opendir(folder);
    const struct dirent *entry;
    while (entries != NULL && text == NULL && (entry = readdir(entries)) != NULL) {
        const char *end = strrchr(entry->d_name, '.');
        if (end == NULL || strcmp(end, ".mlir") != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        text = vv_iree_read_text(path);
        if (text != NULL && !defines(text, function)) {
            free(text);
            text = NULL;
        }
    }
    if (entries != NULL)
        closedir(entries);
    return text;
}

static bool has_several_functions(const char *text)
{
    const char *first = strstr(text, "hal.executable.export ");
    return first != NULL && strstr(first + 1, "hal.executable.export ") != NULL;
}

enum varve_code vv_iree_dumped_find(const char *folder, const char *function,
                                    struct vv_iree_dumped *out_dumped, struct varve_error *error)
{
    struct vv_iree_dumped dumped = { .text = find(folder, function) };
    size_t length;
    const char *executable =
        dumped.text != NULL ? symbol_behind(dumped.text, "hal.executable ", &length) : NULL;
    if (dumped.text == NULL)
        dumped.why = "the compiler has dumped no configuration of it";
    else if (executable == NULL || has_several_functions(dumped.text))
        dumped.why = "it shares its executable with other functions";
    else if (memchr(executable, '/', length) != NULL || *executable == '"')
        dumped.why = "the name of its executable is no name of a file";
    else if ((dumped.executable = strndup(executable, length)) == NULL) {
        free(dumped.text);
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of an executable");
    } else
        vv_iree_config_read(dumped.text, strlen(dumped.text), &dumped.config, &dumped.why);
    *out_dumped = dumped;
    return VARVE_OK;
}

void vv_iree_dumped_deinit(struct vv_iree_dumped *dumped)
{
    free(dumped->text);
    free(dumped->executable);
    *dumped = (struct vv_iree_dumped){ 0 };
}
