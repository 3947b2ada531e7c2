/* SPDX-License-Identifier: Apache-2.0 */
/* mlir_text.c — a module as the engines hand it out: its text, or converted.
 *
 *     mlir_text [--library L] [--engine E] [--converters FOLDER] [--limit-ms N] [--emit FORM] FILE
 *
 * Writes the text (or the form) to standard output, and to standard error the form of the file and
 * the engine. A failure is one line there, and its code the exit status. */
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "mlir/engine/engine.h"

static const char *const forms[] = {
#define VV_MLIR_FORM(name, word) word,
    VV_MLIR_FORMS(VV_MLIR_FORM)
#undef VV_MLIR_FORM
};

static int index_of(const char *const *words, int count, const char *word)
{
    for (int i = 0; i < count; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    fprintf(stderr, "unknown word: %s\n", word);
    exit(64);
}

static int fail(const struct varve_error *error)
{
    fprintf(stderr, "%s\n", error->message);
    return (int)error->code;
}

static int emit(const char *path, enum vv_mlir_form form,
                const struct vv_mlir_engine_options *options)
{
    struct varve_error error;
    int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("module", MFD_CLOEXEC);
    if (from < 0 || to < 0)
        return 64;
    if (vv_mlir_convert(path, from, to, form, options, &error) != VARVE_OK)
        return fail(&error);
    char bytes[65536];
    ssize_t count;
    lseek(to, 0, SEEK_SET);
    while ((count = read(to, bytes, sizeof bytes)) > 0)
        fwrite(bytes, 1, (size_t)count, stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        { "library", required_argument, NULL, 'l' },
        { "engine", required_argument, NULL, 'e' },
        { "converters", required_argument, NULL, 'c' },
        { "limit-ms", required_argument, NULL, 't' },
        { "emit", required_argument, NULL, 'm' },
        { NULL, 0, NULL, 0 },
    };
    struct vv_mlir_engine_options options = { 0 };
    struct vv_mlir_source source;
    struct varve_error error;
    int form = -1;
    for (int c; (c = getopt_long(argc, argv, "", names, NULL)) != -1;)
        switch (c) {
        case 'l': options.library = optarg; break;
        case 'c': options.converters = optarg; break;
        case 't': options.limit_ms = atoll(optarg); break;
        case 'm': form = index_of(forms, 3, optarg); break;
        case 'e':
            options.engine = (enum vv_mlir_engine)index_of(vv_mlir_engine_words,
                                                           VV_MLIR_ENGINE_COUNT, optarg);
            break;
        default: return 64;
        }
    if (optind + 1 != argc)
        return 64;
    if (form >= 0)
        return emit(argv[optind], (enum vv_mlir_form)form, &options);
    if (vv_mlir_source_open(argv[optind], &options, &source, &error) != VARVE_OK)
        return fail(&error);
    fwrite(source.text, 1, source.bytes, stdout);
    fprintf(stderr, "%s %s\n", forms[source.form], vv_mlir_engine_words[source.engine]);
    vv_mlir_source_close(&source);
    return fflush(stdout) == 0 ? 0 : 64;
}
