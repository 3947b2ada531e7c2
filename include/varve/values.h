/* SPDX-License-Identifier: Apache-2.0 */
/* values.h — says more of a range, or of device work: arguments, collectives; and numbers that link
 * forward and backward operators.
 *
 *     VARVE_KEY(batch, "batch");                            a static key
 *
 *     varve_begin(&all_reduce);
 *         varve_arg_i64(&batch, 32);                        of the innermost open range
 *         struct varve_collective_info info = VARVE_COLLECTIVE_INFO_INIT;
 *         info.operation = "all_reduce"; info.group = "world"; info.number = i;
 *         varve_collective(&info);
 *     varve_end();
 *
 * An argument is recorded if its range is. It may also be told from a signal handler once its key
 * has been used. While nothing is recorded, a call costs one relaxed load and one branch, and
 * nothing is read of what the caller passes. No function prints, exits, blocks, or changes errno.
 * Every function is thread-safe. */
#ifndef VARVE_VALUES_H
#define VARVE_VALUES_H

#include "varve/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- arguments ---- */

/* The name of arguments. Make it with VARVE_KEY, once for each place in the source. A name that is
 * known only at run time needs a key of its own: VARVE_KEY_INIT(name), whose name is then hashed at
 * each use. Only the library writes `state`. The name is copied at the first use. */
struct varve_key {
    const char *name;  /* UTF-8; at most 1023 bytes are kept                                   */
    uint32_t state;    /* 0 until the key is first recorded                                    */
    uint32_t reserved; /* 0                                                                    */
};
#define VARVE_KEY_INIT(text) { (text), 0, 0 }
#define VARVE_KEY(variable, text) static struct varve_key variable = VARVE_KEY_INIT(text)

enum varve_arg_kind {
    VARVE_ARG_INT = 1,
    VARVE_ARG_UNSIGNED,
    VARVE_ARG_REAL,
    VARVE_ARG_BOOL,
    VARVE_ARG_TEXT, /* UTF-8; at most 1023 bytes are kept                                       */
    /* Lists; at most 128 values are kept. */
    VARVE_ARG_INTS,
    VARVE_ARG_UNSIGNEDS,
    VARVE_ARG_REALS
};

union varve_arg_value {
    int64_t integer;
    uint64_t number;  /* VARVE_ARG_UNSIGNED; 0 or 1 for VARVE_ARG_BOOL                          */
    double real;
    const char *text; /* NULL counts as ""                                                      */
    const int64_t *integers;
    const uint64_t *numbers;
    const double *reals;
};

struct varve_arg {
    struct varve_key *key;
    uint32_t kind;  /* enum varve_arg_kind                                                      */
    uint32_t count; /* of a list's values; 0 otherwise                                          */
    union varve_arg_value value; /* what it points to is read during the call only              */
};

VARVE_API VARVE_DIRECT void varve_emit_arg(struct varve_key *key, uint32_t kind, uint64_t bits);
VARVE_API VARVE_DIRECT void varve_emit_args(const struct varve_arg *args, uint32_t count);

/* Several arguments of the innermost open range of the calling thread: at most 32, and 3 kB in all,
 * are kept. Later arguments of the same range add to them. */
static inline void varve_args(const struct varve_arg *args, uint32_t count)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_args(args, count);
}

/* One argument. */
static inline void varve_arg_i64(struct varve_key *key, int64_t value)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_arg(key, VARVE_ARG_INT, (uint64_t)value);
}
static inline void varve_arg_u64(struct varve_key *key, uint64_t value)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_arg(key, VARVE_ARG_UNSIGNED, value);
}
static inline void varve_arg_f64(struct varve_key *key, double value)
{
    if (VARVE_UNLIKELY(varve_layers() != 0)) {
        uint64_t bits;
        __builtin_memcpy(&bits, &value, sizeof bits);
        varve_emit_arg(key, VARVE_ARG_REAL, bits);
    }
}
static inline void varve_arg_bool(struct varve_key *key, int value)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_arg(key, VARVE_ARG_BOOL, value != 0);
}

/* Builds an argument for varve_args. */
static inline struct varve_arg varve_arg_of(struct varve_key *key, enum varve_arg_kind kind,
                                            uint32_t count)
{
    struct varve_arg arg;
    arg.key = key;
    arg.kind = (uint32_t)kind;
    arg.count = count;
    arg.value.number = 0;
    return arg;
}
static inline void varve_arg_text(struct varve_key *key, const char *text)
{
    if (VARVE_UNLIKELY(varve_layers() != 0)) {
        struct varve_arg arg = varve_arg_of(key, VARVE_ARG_TEXT, 0);
        arg.value.text = text;
        varve_emit_args(&arg, 1);
    }
}
static inline void varve_arg_i64s(struct varve_key *key, const int64_t *values, uint32_t count)
{
    if (VARVE_UNLIKELY(varve_layers() != 0)) {
        struct varve_arg arg = varve_arg_of(key, VARVE_ARG_INTS, count);
        arg.value.integers = values;
        varve_emit_args(&arg, 1);
    }
}
static inline void varve_arg_f64s(struct varve_key *key, const double *values, uint32_t count)
{
    if (VARVE_UNLIKELY(varve_layers() != 0)) {
        struct varve_arg arg = varve_arg_of(key, VARVE_ARG_REALS, count);
        arg.value.reals = values;
        varve_emit_args(&arg, 1);
    }
}

/* ---- collectives ---- */

/* All fields are optional. Begin with VARVE_COLLECTIVE_INFO_INIT. Texts are copied. */
struct varve_collective_info {
    uint32_t struct_size;  /* sizeof(struct varve_collective_info)                             */
    uint32_t dtype;        /* enum varve_dtype                                                 */
    /* "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "barrier", "broadcast",
     * "reduce", "gather", "scatter"; "send" and "recv" between two ranks. NULL = as the range is
     * called. */
    const char *operation;
    const char *group;     /* name of the process group, the same on all its ranks; NULL       */
    int64_t rank;          /* of this process in the group; -1 = not known                     */
    uint64_t group_size;   /* number of its ranks; 0 = not known                               */
    int64_t peer;          /* the other rank of a send or recv; the root of a broadcast; -1    */
    /* Which one of its group, or of all between these two ranks: 0, 1 … in the same order on all
     * ranks. The collectives of one number belong together. -1 = in the order of their begins. */
    int64_t number;
    uint64_t in_elements;  /* that this rank gives; 0 = not known                              */
    uint64_t out_elements; /* that it gets; 0 = not known                                      */
    uint64_t bytes;        /* that it gives; 0 = not known                                     */
    const int64_t *ranks;  /* numbers of the group's ranks in the job, or NULL; at most 64 are
                              kept */
    uint32_t rank_count;
    uint32_t reserved;     /* 0                                                                */
    /* end of ABI 0 */
};
#define VARVE_COLLECTIVE_INFO_INIT                                                                \
    { (uint32_t)sizeof(struct varve_collective_info), 0, NULL, NULL, -1, 0, -1, -1, 0, 0, 0, NULL, \
      0, 0 }

VARVE_API VARVE_DIRECT void varve_emit_collective(const struct varve_collective_info *info);

/* The innermost open range of the calling thread runs this collective. Not from signal handlers. */
static inline void varve_collective(const struct varve_collective_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_collective(info);
}

/* ---- the same, of device work ---- */

struct varve_activity_values {
    uint32_t struct_size;         /* sizeof(struct varve_activity_values)                      */
    uint32_t arg_count;
    const struct varve_arg *args; /* as for varve_args                                         */
    const struct varve_collective_info *collective; /* or NULL                                 */
    /* end of ABI 0 */
};

VARVE_API VARVE_DIRECT void varve_emit_activity_with(const struct varve_activity_info *info,
                                                     const struct varve_activity_values *values);

/* Like varve_activity, and says more of the work. Not from signal handlers. */
static inline void varve_activity_with(const struct varve_activity_info *info,
                                       const struct varve_activity_values *values)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_DEVICE))
        varve_emit_activity_with(info, values);
}

/* ---- forward and backward operators ---- */

/* Each thread counts the backward operators that its forward operators ask for, whether or not
 * anything is recorded. peek returns the number that the next one will get; next returns it and
 * counts on. Both may be called from signal handlers. */
VARVE_API int64_t varve_sequence_peek(void);
VARVE_API int64_t varve_sequence_next(void);

/* What a backward operator has to know of its forward operator. The program keeps it with the
 * backward operator, which mostly runs later, on another thread. */
struct varve_backward {
    int64_t sequence;
    uint64_t forward_thread;
};

/* On the thread of the forward operator, while it runs: the next number, and this thread. */
VARVE_API void varve_backward_take(struct varve_backward *out_backward);

/* Fills the fields that link the two, before varve_op. A forward operator calls this before its
 * backward operator takes the number. */
static inline void varve_op_forward(struct varve_op_info *info)
{
    info->sequence = varve_sequence_peek();
    info->forward_thread = 0;
}
static inline void varve_op_backward(struct varve_op_info *info,
                                     const struct varve_backward *backward)
{
    info->sequence = backward->sequence;
    info->forward_thread = backward->forward_thread;
}

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
static inline void varve_backward_none_(struct varve_backward *out_backward)
{
    out_backward->sequence = -1;
    out_backward->forward_thread = 0;
}
#define VARVE_CALLS_OF_VALUES 1
#include "varve/unlinked.h"
#endif
#endif
