/* SPDX-License-Identifier: Apache-2.0 */
/* tune.h — makes a program of IREE faster on a CPU by what a profile of it says, and proves it.
 *
 *   1. compile the module as it is; run it; keep what it computes
 *   2. candidates: flags of the compiler; measure each against the first program
 *   3. profile the best so far; other tiles for the dispatches that take most time, several rounds,
 *      each one compilation; of each dispatch the tile that was measured faster is kept
 *   4. compare what the finalists compute with what the first program does
 *   5. confirm: the finalists take turns; "no change" is one of them, and wins unless another is
 *      faster in most turns
 *
 * The compiler and the programs run as processes of their own with a time limit; one that fails,
 * crashes or hangs is a candidate that failed. All files are in the work folder. A program that is
 * there from an earlier run with the same flags is not compiled again. One call at a time. */
#ifndef VV_MLIR_TUNE_TUNE_H
#define VV_MLIR_TUNE_TUNE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "mlir/tune/outputs.h"
#include "sheet/sheet.h"

enum { VV_TUNE_CANDIDATES_MAX = 48, VV_TUNE_DISPATCHES_MAX = 16, VV_TUNE_TURNS_MAX = 64 };

struct vv_tune_options {
    const char *module;      /* path                                                            */
    const char *folder;      /* for all files; it may be there already                          */
    const char *iree;        /* folder with iree-compile …; NULL = VIRTUAL_ENV, then PATH       */
    const char *flags;       /* of the compiler, with blanks between; NULL = llvm-cpu, this CPU */
    const char *function;    /* NULL = "main"                                                   */
    const char *inputs;      /* as IREE's --input takes them, with ';' between; NULL = none     */
    const char *device;      /* NULL = "local-task"                                             */
    int64_t limit_ms;        /* of one compilation, and of one run; 0 = 300 s                   */
    double tolerance;        /* largest relative difference of outputs                          */
    unsigned tiles;          /* alternatives for each dispatch                                  */
    unsigned dispatches;     /* at most so many get alternatives                                */
    unsigned turns;          /* of the confirmation                                             */
    const volatile sig_atomic_t *stop; /* ends everything as soon as this is not 0; or NULL     */
    void (*tell)(void *context, const char *text); /* what happens now; or NULL                 */
    void *context;
};

enum vv_tune_kind {
    VV_TUNE_NO_CHANGE, VV_TUNE_FLAG,
    VV_TUNE_TILES,      /* of a round                                                            */
    VV_TUNE_TILES_KEPT, /* the faster ones                                                       */
    VV_TUNE_SPEC_KEPT   /* of these what a tuning spec can say, and no file for one dispatch      */
};

enum vv_tune_state {
    VV_TUNE_MEASURED,       /* but not among the finalists                                      */
    VV_TUNE_ANSWER,
    VV_TUNE_NOT_FASTER,     /* in the confirmation                                              */
    VV_TUNE_OUTPUTS_DIFFER,
    VV_TUNE_NOT_COMPILED, VV_TUNE_NOT_RUN
};

struct vv_tune_candidate {
    const char *name;        /* "im2col", "tiles 1"; its folder has the same name, with '-'      */
    const char *flags;       /* beside those of all, with blanks between                        */
    const char *path;        /* of its folder                                                   */
    const char *why;         /* it failed; or NULL                                              */
    enum vv_tune_kind kind;
    enum vv_tune_state state;
    int64_t compile_ms;      /* -1 = it was there                                               */
    int64_t turns_ns[VV_TUNE_TURNS_MAX]; /* one run each, the mean of its iterations             */
    int64_t base_turns_ns[VV_TUNE_TURNS_MAX]; /* of "no change" in the same turn                 */
    unsigned turns;
    bool is_compared;
    struct vv_tune_difference difference;
};

struct vv_tune_dispatch {
    const char *function, *executable; /* as in the profile; as in the module                    */
    const char *tile;        /* of the compiler; or NULL                                        */
    const char *choice;      /* what the answer has instead; NULL = the compiler's               */
    const char *why;         /* no alternative was tried; or NULL                               */
    double share;            /* of the time of all dispatches                                   */
    int64_t before_ns, after_ns; /* shortest execution with the compiler's tile, with the best   */
    unsigned tried;
    const char *spec_choice; /* what VV_TUNE_SPEC_KEPT has instead; NULL = the compiler's        */
    uint8_t shared_in;       /* bits of kinds of candidates: there a spec gives it the tile of   */
                             /* another one, with an equal root                                  */
};

struct vv_tune {
    struct vv_arena arena;
    struct vv_tune_candidate candidates[VV_TUNE_CANDIDATES_MAX]; /* the first is "no change"      */
    struct vv_tune_dispatch dispatches[VV_TUNE_DISPATCHES_MAX];
    size_t candidate_count, dispatch_count;
    size_t answer;           /* row in candidates                                               */
    const char *command;     /* that compiles the answer                                        */
};

/* VARVE_NOT_FOUND: no IREE; VARVE_UNSUPPORTED: the module does not compile or run as it is;
 * VARVE_INVALID: the folder holds work for another module; VARVE_STATE: it was stopped. */
enum varve_code vv_tune_make(const struct vv_tune_options *options, struct vv_tune *out_tune,
                             struct varve_error *error);
void vv_tune_deinit(struct vv_tune *tune); /* of a zeroed one, too */

/* Tables "tune_answer", "tune" and "tune_dispatches". */
enum varve_code vv_tune_sheets(const struct vv_tune *tune, struct vv_sheet out_sheets[3],
                               struct varve_error *error);

#endif
