/* SPDX-License-Identifier: Apache-2.0 */
/* words.c — lists of words that the scripts of completions.c ask for while a user types. Each is
 * taken from the table that the parser of the option reads. */
#include <string.h>

#include "cli/pages/help.h"
#include "cli/recording/recorded_processes.h"
#include "ctf/foreign_layers.h"
#include "ctf/metadata_write.h"
#include "derive/select/filter.h"
#include "settings/sources.h"

#define LAYER_BITS 32

typedef enum varve_code put_fn(FILE *stream, const struct vv_word_request *request,
                               struct varve_error *error);

static enum varve_code put_tables(FILE *stream, const struct vv_word_request *request,
                                  struct varve_error *error)
{
    (void)request, (void)error;
    for (const struct vv_table_entry *table = vv_tables; table->name != NULL; table++)
        fprintf(stream, "%s\n", table->name);
    return VARVE_OK;
}

/* Columns of the table that the line names, else of the verb's own. */
static enum varve_code put_columns(FILE *stream, const struct vv_word_request *request,
                                   struct varve_error *error)
{
    const char *name = request->table;
    const struct vv_table_entry *table;
    for (const struct vv_verb *verb = request->verbs; name == NULL && verb->name != NULL; verb++)
        if (request->verb != NULL && strcmp(verb->name, request->verb) == 0)
            name = verb->table;
    VV_TRY(vv_table_find(name != NULL ? name : "operators", &table, error));
    return vv_help_columns(stream, table, error);
}

/* --sort names operators' columns without their units, and columns of other tables as they are. */
static enum varve_code put_sort_keys(FILE *stream, const struct vv_word_request *request,
                                     struct varve_error *error)
{
    if (request->table != NULL)
        return put_columns(stream, request, error);
    const char *const *key = vv_options[VV_OPTION_SORT].choices;
    for (; *key != NULL; key++)
        fprintf(stream, "%s\n", *key);
    return VARVE_OK;
}

static enum varve_code put_layers(FILE *stream, const struct vv_word_request *request,
                                  struct varve_error *error)
{
    (void)request, (void)error;
    for (int bit = 0; bit < LAYER_BITS; bit++) {
        const char *name = vv_layer_name(UINT32_C(1) << bit);
        if (name[0] != '\0')
            fprintf(stream, "%s\n", name);
    }
    fputs("all\n", stream);
    for (size_t i = 0; i < VV_FOREIGN_LAYERS; i++)
        fprintf(stream, "%s\n", vv_foreign_layers[i].name);
    return VARVE_OK;
}

static enum varve_code put_collectors(FILE *stream, const struct vv_word_request *request,
                                      struct varve_error *error)
{
    (void)request, (void)error;
    fputs("auto\nnone\n", stream);
    for (size_t i = 0; i < vv_collect_source_count; i++)
        fprintf(stream, "%s\n", vv_collect_sources[i].name);
    return VARVE_OK;
}

static enum varve_code put_filter(FILE *stream, const struct vv_word_request *request,
                                  struct varve_error *error)
{
    const char *word;
    (void)request, (void)error;
    for (size_t i = 0; (word = vv_filter_word(i)) != NULL; i++)
        fprintf(stream, "%s\n", word);
    return VARVE_OK;
}

/* Numbers and programs of the processes that are being recorded. */
static enum varve_code put_processes(FILE *stream, const struct vv_word_request *request,
                                     struct varve_error *error)
{
    struct vv_recorded_list list = { 0 };
    (void)request;
    enum varve_code code = vv_recorded_find(NULL, &list, error);
    for (size_t i = 0; code == VARVE_OK && i < list.count; i++)
        fprintf(stream, "%d\n%s\n", (int)list.items[i].pid, list.items[i].program);
    vv_recorded_deinit(&list);
    return code;
}

static enum varve_code put_help(FILE *stream, const struct vv_word_request *request,
                                struct varve_error *error)
{
    for (const struct vv_verb *verb = request->verbs; verb->name != NULL; verb++)
        fprintf(stream, "%s\n", verb->name);
    fputs("tables\nrules\nfilter\n", stream);
    return put_tables(stream, request, error);
}

static const struct {
    const char *name;
    put_fn *put;
} lists[] = {
    { "tables", put_tables },         { "columns", put_columns }, { "sort", put_sort_keys },
    { "layers", put_layers },         { "filter", put_filter },
    { "collectors", put_collectors }, { "processes", put_processes },
    { "help", put_help },
};
enum { LISTS = sizeof lists / sizeof *lists };

bool vv_words_has(const char *list)
{
    for (size_t i = 0; i < LISTS; i++)
        if (strcmp(lists[i].name, list) == 0)
            return true;
    return false;
}

enum varve_code vv_words_put(FILE *stream, const struct vv_word_request *request,
                             struct varve_error *error)
{
    for (size_t i = 0; i < LISTS; i++)
        if (strcmp(lists[i].name, request->list) == 0)
            return lists[i].put(stream, request, error);
    VV_FAIL(error, VARVE_INVALID, "no list of words '%.60s'", request->list);
}
