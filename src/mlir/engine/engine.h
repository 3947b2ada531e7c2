/* SPDX-License-Identifier: Apache-2.0 */
/* engine.h — a program in MLIR as text, whatever form its file has.
 *
 * Text is mapped, and read by ourselves. Bytecode goes through a converter: an executable of ours
 * (the folder mlir/ of the tree) in a process of its own. A converter opens the producer's library,
 * or has LLVM 19 inside. A library is taken from options->library, or from the active Python, and
 * never guessed. A converter that crashes, hangs or loses weights is an error here. */
#ifndef VV_MLIR_ENGINE_ENGINE_H
#define VV_MLIR_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

/* X(FORM, word). GENERIC is text without the dialects' own forms; a file is TEXT or BYTECODE. */
#define VV_MLIR_FORMS(X)        \
    X(TEXT, "text")             \
    X(GENERIC, "generic")       \
    X(BYTECODE, "bytecode")

enum vv_mlir_form {
#define VV_MLIR_FORM(name, word) VV_MLIR_##name,
    VV_MLIR_FORMS(VV_MLIR_FORM)
#undef VV_MLIR_FORM
};

/* X(ENGINE, word): who reads the file. */
#define VV_MLIR_ENGINES(X)                                                               \
    X(AUTO, "auto")       /* text: text; bytecode: a library if there is one, else llvm */ \
    X(OWN, "text")        /* ourselves; bytecode is refused                             */ \
    X(LIBRARY, "library") /* the producer's own                                         */ \
    X(LLVM, "llvm")       /* LLVM 19, with no dialect but builtin                       */

enum vv_mlir_engine {
#define VV_MLIR_ENGINE(name, word) VV_MLIR_ENGINE_##name,
    VV_MLIR_ENGINES(VV_MLIR_ENGINE)
#undef VV_MLIR_ENGINE
    VV_MLIR_ENGINE_COUNT
};
extern const char *const vv_mlir_engine_words[VV_MLIR_ENGINE_COUNT];

struct vv_mlir_engine_options {
    const char *library;     /* path of a library, or "python": of the active environment; NULL:
                                of the environment that VIRTUAL_ENV or CONDA_PREFIX names        */
    const char *converters;  /* folder of the converters; NULL = where this build has them       */
    enum vv_mlir_engine engine;
    int64_t limit_ms;        /* that a converter may take; 0 = VV_MLIR_CONVERTER_LIMIT_MS        */
};
#define VV_MLIR_CONVERTER_LIMIT_MS 120000

struct vv_mlir_source {
    const char *text;        /* of the program, without a NUL behind it                          */
    uint64_t bytes;
    enum vv_mlir_form form;  /* of the file                                                      */
    enum vv_mlir_engine engine; /* that read it                                                  */
    void *map;               /* what vv_mlir_source_close unmaps; NULL = `text` is freed         */
};

/* The text of the module in the file `path` ("-" = standard input). A file of text is
 * mapped, not copied; whoever shortens it meanwhile ends this process, as with every mapped file.
 * VARVE_CORRUPT: no MLIR; the message says what it is and what to do. VARVE_UNSUPPORTED: no engine
 * can read it. On failure nothing is held. */
enum varve_code vv_mlir_source_open(const char *path, const struct vv_mlir_engine_options *options,
                                    struct vv_mlir_source *out_source, struct varve_error *error);
void vv_mlir_source_close(struct vv_mlir_source *source); /* of a zeroed one, too */

/* Reads the module in the file `from` and writes it in `form` to the file `to`, from its begin on:
 * descriptors of regular files, which stay open. `name` is for messages. Like vv_mlir_source_open,
 * with the library or LLVM 19; fails with VARVE_UNSUPPORTED if resources would be lost. After a
 * failure `to` may hold anything. */
enum varve_code vv_mlir_convert(const char *name, int from, int to, enum vv_mlir_form form,
                                const struct vv_mlir_engine_options *options,
                                struct varve_error *error);

#endif
