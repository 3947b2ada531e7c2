/* SPDX-License-Identifier: Apache-2.0 */
/* tuning.h — shared by the files that tune: where things are, and what is done to one candidate. */
#ifndef VV_MLIR_TUNE_TUNING_H
#define VV_MLIR_TUNE_TUNING_H

#include "mlir/tune/process.h"
#include "mlir/tune/tune.h"

enum { VV_TUNE_FUNCTIONS_MAX = 4096 };

/* Of one function, in one profile. */
struct vv_tune_time {
    const char *function;
    int64_t total_ns, least_ns; /* of all executions; of one                                    */
};

struct vv_tuning {
    const struct vv_tune_options *options;
    struct vv_tune *tune;
    const char *compiler, *runner, *benchmark; /* paths                                          */
    const char *flags, *function, *device, *folder;
    unsigned outputs;   /* of the function                                                      */
    int64_t iterations; /* of one measurement                                                   */
    int64_t limit_ms;
};

/* A text in the arena; NULL if there is no memory, which the caller must check. */
const char *vv_tuning_text(struct vv_tuning *tuning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
#define VV_TUNING_TEXT(out, tuning, ...)                                                        \
    do {                                                                                        \
        *(out) = vv_tuning_text((tuning), __VA_ARGS__);                                         \
        if (*(out) == NULL)                                                                     \
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for a text");                            \
    } while (0)
void vv_tuning_tell(const struct vv_tuning *tuning, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Finds IREE's programs and makes the work folder. place.c */
enum varve_code vv_tuning_place(struct vv_tuning *tuning, struct varve_error *error);
/* Writes a whole file or none. place.c */
enum varve_code vv_tuning_store(const char *path, const char *text, struct varve_error *error);

/* A new candidate with these flags beside those of all; *out_candidate lives as long as the tune.
 * VARVE_LIMIT: there are too many. candidate.c */
enum varve_code vv_tuning_add(struct vv_tuning *tuning, enum vv_tune_kind kind, const char *name,
                              const char *flags, struct vv_tune_candidate **out_candidate,
                              struct varve_error *error);
/* Each of these sets the candidate's state if it fails, and fails itself only for what no
 * candidate can help. candidate.c */
enum varve_code vv_tuning_compile(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct varve_error *error);
enum varve_code vv_tuning_compute(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct varve_error *error);
static inline bool vv_tuning_is_alive(const struct vv_tune_candidate *candidate)
{
    return candidate->state <= VV_TUNE_NOT_FASTER;
}

/* How many iterations a measurement needs. measure.c */
enum varve_code vv_tuning_calibrate(struct vv_tuning *tuning, struct varve_error *error);
/* Candidates take turns with "no change". measure.c */
enum varve_code vv_tuning_take_turns(struct vv_tuning *tuning,
                                     struct vv_tune_candidate *const *candidates, size_t count,
                                     unsigned turns, struct varve_error *error);
/* The times of its dispatches, the most total first; names are in the tune's arena. measure.c */
enum varve_code vv_tuning_profile(struct vv_tuning *tuning, struct vv_tune_candidate *candidate,
                                  struct vv_tune_time times[VV_TUNE_FUNCTIONS_MAX],
                                  size_t *out_count, struct varve_error *error);

/* Other tiles for the dispatches of `best`. Adds a candidate for each round, and one with the tiles
 * that are kept. tiles.c */
enum varve_code vv_tuning_tiles(struct vv_tuning *tuning, struct vv_tune_candidate *best,
                                struct varve_error *error);

/* The least of its turns; 0 = none. */
static inline int64_t vv_tune_least(const int64_t *turns_ns, unsigned turns)
{
    int64_t least = 0;
    for (unsigned i = 0; i < turns; i++)
        least = least == 0 || turns_ns[i] < least ? turns_ns[i] : least;
    return least;
}

#endif
