/* SPDX-License-Identifier: Apache-2.0 */
/* varve.h — mark what a program does, so that Varve can say where its time goes.
 *
 * The common case, whole:
 *
 *     #include <varve/varve.h>                         link with  -lvarve, or see VARVE_WEAK
 *
 *     VARVE_SITE(conv, "conv2d", VARVE_LAYER_OP);      a static call site
 *     VARVE_SITE(forward, "forward", VARVE_LAYER_STEP);
 *     VARVE_SITE(backward, "backward", VARVE_LAYER_STEP);
 *
 *     varve_step_begin(i);
 *     varve_begin(&forward);                           a phase: a range of layer STEP
 *         varve_begin(&conv);  …  varve_end();
 *         { VARVE_SCOPE("softmax"); … }                ends with the block
 *     varve_next(&backward);                           end + begin on one clock read
 *         …
 *     varve_end();
 *     varve_step_end();
 *
 *     $ varve record -- ./program && varve report
 *
 * While nothing is recorded and nobody observes (varve/observer.h), every call costs one relaxed
 * load and one branch. A recorded range costs two clock reads and two stores. No function prints,
 * exits, blocks, throws or changes errno; a record that cannot be kept is counted. Every function
 * is thread-safe. It may also be called from a signal handler, except for the session functions and
 * those marked "not from signal handlers".
 * The macros and inline functions need GNU C (gcc, clang), C99 or C++11 and later. */
#ifndef VARVE_VARVE_H
#define VARVE_VARVE_H

#include <stddef.h>
#include <stdint.h>

#include "varve/error.h"

#define VARVE_VERSION_MAJOR 0
#define VARVE_VERSION_MINOR 1
#define VARVE_VERSION_PATCH 0

/* A program that defines VARVE_DISABLE has marks that compile to nothing; one that defines
 * VARVE_WEAK need not be linked: include/varve/unlinked.h. */
#if defined(VARVE_DISABLE) || defined(VARVE_WEAK)
#define VARVE_UNLINKED 1
#define VARVE_API static inline __attribute__((unused))
#else
#define VARVE_API __attribute__((visibility("default")))
#endif
#define VARVE_UNLIKELY(condition) __builtin_expect(!!(condition), 0)

#ifdef __cplusplus
extern "C" {
#endif

/* ---- layers: the kind of work that a record is about (a bit mask; doc/format.md) ---- */

#define VARVE_LAYER_API 0x001u        /* what the user called                                  */
#define VARVE_LAYER_HOST 0x002u       /* framework internals: shape inference, dispatch …      */
#define VARVE_LAYER_OP 0x004u         /* operators                                             */
#define VARVE_LAYER_RUNTIME 0x008u    /* executor, launches                                    */
#define VARVE_LAYER_RUNTIME_L1 0x010u /* executor and launches, in more detail                 */
#define VARVE_LAYER_DEVICE 0x020u     /* kernels, copies, trace points                         */
#define VARVE_LAYER_COMM 0x040u       /* collectives, point-to-point                           */
#define VARVE_LAYER_MEMORY 0x080u     /* allocations and lifetimes                             */
#define VARVE_LAYER_STEP 0x100u       /* iterations and their phases                           */
#define VARVE_LAYER_PYTHON 0x200u     /* Python calls                                          */
#define VARVE_LAYER_METRIC 0x400u     /* counters                                              */
#define VARVE_LAYER_ALL 0x7ffu

/* The process's switch. It fills one memory page, so that the page can be mapped onto a file that
 * another process writes. `layers` is the mask of recorded layers, 0 = off; `observers` is not 0
 * while a program has observers (varve/observer.h); `steps` is not 0 while a schedule counts steps,
 * or while control callbacks are to be told of a switch (VARVE_STEPS_TOLD; doc/control.md); `epoch`
 * grows at each start. Read the mask through varve_layers(); write it through
 * varve_layers_set(). */
struct varve_control {
    uint32_t layers;
    uint32_t observers;
    uint32_t steps;
    uint32_t epoch;
    unsigned char reserved[4080];
};
#define VARVE_STEPS_TOLD 2u

/* The process's page; NULL where there is none. */
#if defined(VARVE_DISABLE)
#define VARVE_PAGE_ NULL
#elif defined(VARVE_WEAK)
extern __attribute__((weak, visibility("hidden"))) const struct varve_control *varve_weak_page_;
#define VARVE_PAGE_ varve_weak_page_
#else
extern VARVE_API struct varve_control varve_control_page;
#define VARVE_PAGE_ &varve_control_page
#endif

/* The mask of layers that are recorded now; 0 when nothing is. */
static inline uint32_t varve_layers(void)
{
    const struct varve_control *page = VARVE_PAGE_;
    return page == NULL ? 0 : __atomic_load_n(&page->layers, __ATOMIC_RELAXED);
}

/* `steps` of the page. */
static inline uint32_t varve_steps_(void)
{
    const struct varve_control *page = VARVE_PAGE_;
    return page == NULL ? 0 : __atomic_load_n(&page->steps, __ATOMIC_RELAXED);
}

/* Is anything recorded, or are there observers? `layers` and `observers` in one load. */
typedef uint64_t varve_two_words_ __attribute__((may_alias));
static inline int varve_is_on_(void)
{
    const struct varve_control *page = VARVE_PAGE_;
    const varve_two_words_ *both = (const varve_two_words_ *)(const void *)page;
    return page != NULL && __atomic_load_n(both, __ATOMIC_RELAXED) != 0;
}

/* ---- call sites ---- */

/* A static call site. Make it with VARVE_SITE. Only `state` changes, and only the library writes
 * it. The library copies the strings at the first use, so the site's module may be unloaded
 * later. */
struct varve_site {
    const char *name; /* UTF-8; at most 1023 bytes are kept                                   */
    const char *file; /* source file, or NULL                                                 */
    uint32_t line;
    uint32_t layer;    /* one VARVE_LAYER_ bit; of several bits the lowest counts             */
    uint32_t state;    /* 0 until the site is first recorded                                  */
    uint32_t reserved; /* 0                                                                   */
};

#define VARVE_SITE_INIT(text, layer_bit) { (text), __FILE__, __LINE__, (layer_bit), 0, 0 }
#define VARVE_SITE(variable, text, layer_bit) \
    static struct varve_site variable = VARVE_SITE_INIT(text, layer_bit)

/* ---- what the inline functions call (call the inline functions instead) ---- */

/* Calls go directly through the global offset table. That saves one jump, and the first call needs
 * no symbol lookup: it may come from a signal handler. */
#if defined(__has_attribute) && !defined(VARVE_UNLINKED)
#if __has_attribute(noplt)
#define VARVE_DIRECT __attribute__((noplt))
#endif
#endif
#ifndef VARVE_DIRECT
#define VARVE_DIRECT
#endif

VARVE_API VARVE_DIRECT void varve_emit_begin(struct varve_site *site);
VARVE_API VARVE_DIRECT void varve_emit_next(struct varve_site *site);
VARVE_API VARVE_DIRECT void varve_emit_end(void);
VARVE_API VARVE_DIRECT void varve_emit_mark(struct varve_site *site);
VARVE_API VARVE_DIRECT void varve_emit_counter(struct varve_site *site, double value);
VARVE_API VARVE_DIRECT void varve_emit_async_begin(struct varve_site *site, uint64_t id);
VARVE_API VARVE_DIRECT void varve_emit_async_end(struct varve_site *site, uint64_t id);
VARVE_API VARVE_DIRECT void varve_emit_flow_out(struct varve_site *site, uint64_t id);
VARVE_API VARVE_DIRECT void varve_emit_flow_in(struct varve_site *site, uint64_t id);
VARVE_API VARVE_DIRECT void varve_emit_begin_name(const char *name, uint32_t layer);
VARVE_API VARVE_DIRECT void varve_emit_step_begin(int64_t index);
VARVE_API VARVE_DIRECT void varve_emit_step_end(void);
VARVE_API VARVE_DIRECT void varve_emit_schedule(int begins);
VARVE_API VARVE_DIRECT void varve_emit_told(void);
VARVE_API VARVE_DIRECT void varve_emit_alloc(const void *address, uint64_t bytes, uint32_t device);
VARVE_API VARVE_DIRECT void varve_emit_free(const void *address, uint32_t device);

/* ---- ranges: what a thread does, nested ---- */

/* Begins a range on the calling thread. Every begin needs one varve_end on the same thread. */
static inline void varve_begin(struct varve_site *site)
{
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_begin(site);
}

/* Ends the innermost open range of the calling thread; does nothing if no range is open. */
static inline void varve_end(void)
{
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_end();
}

/* Ends the innermost open range and begins another at the same instant, with one clock read and one
 * record. */
static inline void varve_next(struct varve_site *site)
{
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_next(site);
}

/* Like varve_begin, for a name that is known only at run time. `name` is copied. End the range with
 * varve_end. Slower than a site, because the name is hashed. Not from signal handlers. */
static inline void varve_begin_name(const char *name, uint32_t layer)
{
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_begin_name(name, layer);
}

static inline struct varve_site *varve_scope_begin_(struct varve_site *site)
{
    varve_begin(site);
    return site;
}
static inline void varve_scope_end_(struct varve_site **site)
{
    (void)site;
    varve_end();
}
#define VARVE_JOIN2_(a, b) a##b
#define VARVE_JOIN_(a, b) VARVE_JOIN2_(a, b)

/* A range from here to the end of the enclosing block. It also ends when the block is left
 * early. */
#define VARVE_SCOPE_LAYER(text, layer_bit) VARVE_SCOPE_AT_(__COUNTER__, text, layer_bit)
#define VARVE_SCOPE_AT_(number, text, layer_bit)                  \
    VARVE_SITE(VARVE_JOIN_(varve_site_, number), text, layer_bit); \
    struct varve_site *VARVE_JOIN_(varve_scope_, number)           \
        __attribute__((cleanup(varve_scope_end_), unused)) =       \
            varve_scope_begin_(&VARVE_JOIN_(varve_site_, number))
#define VARVE_SCOPE(text) VARVE_SCOPE_LAYER(text, VARVE_LAYER_OP)

/* ---- what an operator works on ---- */

enum varve_dtype {
    VARVE_DTYPE_UNKNOWN = 0,
    VARVE_F32, VARVE_F64, VARVE_F16, VARVE_BF16, VARVE_F8E4M3, VARVE_F8E5M2,
    VARVE_I8, VARVE_I16, VARVE_I32, VARVE_I64,
    VARVE_U8, VARVE_U16, VARVE_U32, VARVE_U64,
    VARVE_BOOL, VARVE_C64, VARVE_C128,
    VARVE_C32, VARVE_QI8, VARVE_QU8, VARVE_QI32, /* half complex; quantized */
    VARVE_F8E5M2FNUZ, VARVE_F8E4M3FNUZ, VARVE_F8E8M0,
    VARVE_BITS /* any other type                                                               */
};

struct varve_tensor {
    uint32_t dtype;      /* enum varve_dtype                                                   */
    uint32_t rank;       /* number of dims, at most 16; 0 = scalar                             */
    const int64_t *dims; /* `rank` values, outermost first; read during the call only          */
};

/* All fields are optional: 0, or -1 for `sequence`, means unknown. Zero-initialise the struct, then
 * set struct_size; or begin with VARVE_OP_INFO_INIT. */
struct varve_op_info {
    uint32_t struct_size; /* sizeof(struct varve_op_info)                                      */
    uint32_t input_count; /* at most 32 inputs are kept                                        */
    const struct varve_tensor *inputs; /* read during the call only                            */
    uint64_t flop;        /* floating-point operations; a multiply-add counts 2                */
    uint64_t bytes;       /* memory read plus written                                          */
    int64_t sequence;     /* links a forward operator with its backward one; -1 = none         */
    uint64_t forward_thread; /* on a backward operator: thread id of the forward one; 0 = none */
    /* end of ABI 0; a shorter struct_size leaves out what follows */
    const struct varve_tensor *outputs; /* read during the call only                           */
    uint32_t output_count; /* at most 32 outputs are kept                                      */
    uint32_t reserved;     /* 0                                                                */
    /* Beside `inputs` and `outputs`: as many numbers or texts, or NULL. A number is the same
     * wherever the data is the same; 0 = not known. A format is "NCHW" and the like, NULL = not
     * known; it is copied. */
    const uint64_t *input_ids;
    const uint64_t *output_ids;
    const char *const *input_formats;
    const char *const *output_formats;
};
#define VARVE_OP_INFO_INIT \
    { (uint32_t)sizeof(struct varve_op_info), 0, NULL, 0, 0, -1, 0, NULL, 0, 0, NULL, NULL, NULL, \
      NULL }

VARVE_API VARVE_DIRECT void varve_emit_op(const struct varve_op_info *info);

/* Says what the innermost open range of the calling thread works on. With formats not from signal
 * handlers. */
static inline void varve_op(const struct varve_op_info *info)
{
    if (VARVE_UNLIKELY(varve_layers() != 0))
        varve_emit_op(info);
}

/* ---- steps: one training iteration, or one inference ---- */

/* Begins step `index` on the calling thread. A phase (data, forward, backward …) is a range of
 * layer STEP inside it. Steps do not nest. */
static inline void varve_step_begin(int64_t index)
{
    if (VARVE_UNLIKELY(varve_steps_() != 0))
        varve_emit_schedule(1);
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_step_begin(index);
}

/* Ends the step, and all ranges of this thread that are still open in it. */
static inline void varve_step_end(void)
{
    if (VARVE_UNLIKELY(varve_is_on_()))
        varve_emit_step_end();
    if (VARVE_UNLIKELY(varve_steps_() != 0))
        varve_emit_schedule(0);
}

/* ---- instants, counters, asynchronous ranges, flows ---- */

/* Marks an instant on the calling thread. */
static inline void varve_mark(struct varve_site *site)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_mark(site);
}

/* Sets the value of a counter from now on (loss, queue length, bytes in use …). */
static inline void varve_counter(struct varve_site *site, double value)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_counter(site, value);
}

/* A range that may begin on one thread and end on another. (site name, id) says which begin and
 * which end belong together. */
static inline void varve_async_begin(struct varve_site *site, uint64_t id)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_async_begin(site, id);
}
static inline void varve_async_end(struct varve_site *site, uint64_t id)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_async_end(site, id);
}

/* An arrow from one open range to another: varve_flow_out is called in the first, varve_flow_in in
 * the second, both with the same (site name, id). */
static inline void varve_flow_out(struct varve_site *site, uint64_t id)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_flow_out(site, id);
}
static inline void varve_flow_in(struct varve_site *site, uint64_t id)
{
    if (VARVE_UNLIKELY(varve_layers() & site->layer))
        varve_emit_flow_in(site, id);
}

/* ---- memory ---- */

#define VARVE_DEVICE_KIND_CPU 0u
#define VARVE_DEVICE_KIND_CUDA 1u
#define VARVE_DEVICE_KIND_OPENCL 2u
#define VARVE_DEVICE_KIND_OTHER 3u
#define VARVE_DEVICE_KIND_META 4u /* tensors without memory                                       */
#define VARVE_DEVICE(kind, index) (((uint32_t)(kind) << 16) | ((uint32_t)(index) & 0xffffu))
#define VARVE_DEVICE_CPU VARVE_DEVICE(VARVE_DEVICE_KIND_CPU, 0)

/* The innermost open range allocated `bytes` at `address` on `device`. */
static inline void varve_alloc(const void *address, uint64_t bytes, uint32_t device)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_MEMORY))
        varve_emit_alloc(address, bytes, device);
}
static inline void varve_free(const void *address, uint32_t device)
{
    if (VARVE_UNLIKELY(varve_layers() & VARVE_LAYER_MEMORY))
        varve_emit_free(address, device);
}

/* ---- names ---- */

/* Names the calling thread, or the process, in the trace. The name is recorded only while something
 * is recorded; otherwise the trace has the kernel's own thread name. `name` is copied. Not from
 * signal handlers. */
VARVE_API void varve_thread_name(const char *name);
VARVE_API void varve_process_name(const char *name);

/* ---- sessions: only for programs that record themselves; not needed under `varve record` ---- */

/* What happens when a process has recorded max_bytes. */
#define VARVE_WHEN_FULL_DROP_NEWEST 0u /* later records are counted as lost                      */
#define VARVE_WHEN_FULL_GROW 1u        /* later records are kept, and the excess is reported     */

struct varve_session_options {
    uint32_t struct_size; /* sizeof(struct varve_session_options)                              */
    uint32_t layers;      /* mask to record; 0 = VARVE_LAYER_ALL                               */
    const char *output;   /* trace folder NAME.varve, made if absent; NULL = "PROGRAM.varve". If
                             the folder exists, the process joins it: the processes of a job
                             share a trace. So give a new run a name of its own, or remove the
                             former trace */
    uint64_t max_bytes;   /* disk space that the process's streams may take; 0 = no limit      */
    uint64_t keep_bytes;  /* flight recorder: keep about so many bytes of the end; 0 = all     */
    uint64_t keep_ns;     /* the same as a time. Set at most one of max_bytes and these two */
    uint32_t when_full;   /* VARVE_WHEN_FULL_…; must be 0 without max_bytes                    */
    uint32_t reserved;    /* 0                                                                 */
    /* end of ABI 0 */
};
#define VARVE_SESSION_OPTIONS_INIT \
    { (uint32_t)sizeof(struct varve_session_options), 0, NULL, 0, 0, 0, 0, 0 }

/* Starts recording this process into its own sub-folder of options->output. `options` may be NULL.
 * Returns VARVE_STATE if a session runs already (as under `varve record`), VARVE_PERMISSION in a
 * set-user-id process. The session ends at varve_session_stop or with the process, even if the
 * process is killed. */
VARVE_API enum varve_code varve_session_start(const struct varve_session_options *options,
                                              struct varve_error *error);

/* Ends the session that varve_session_start began, and closes open ranges at this instant. Returns
 * VARVE_STATE if no session runs, or if `varve record` began it. A session of `varve record` ends
 * with the process; so a program that records itself runs unchanged under `varve record`. */
VARVE_API enum varve_code varve_session_stop(struct varve_error *error);

/* Writes what the running session of this process holds now into a new trace folder `output`, while
 * recording goes on. NULL = "NAME.dump.varve" beside the session's NAME.varve; if that exists,
 * "NAME.dump.2.varve" and so on. Returns when all is copied. May be called from a signal handler,
 * with an absolute path or NULL. VARVE_STATE: no session runs, it has recorded nothing, or another
 * dump is being made. VARVE_EXISTS: `output` exists already. */
VARVE_API enum varve_code varve_session_dump(const char *output, struct varve_error *error);

/* Records what other libraries in this process do. `sources` says which, in the words of `varve
 * record --collect`: "auto" (or NULL), "none", or names with commas; `varve help record` lists the
 * names. The choice holds until the next call, in all sessions and in forked children. It covers
 * the libraries that are loaded now and, in a Python program, those that it imports later. "none"
 * detaches from all libraries; that costs nothing afterwards. PyTorch's memory is recorded only if
 * the loader searches this library before PyTorch, as under `varve record`; otherwise the trace
 * says so. If recording began before the program (`varve record`, the environment), that choice
 * stays and this call changes nothing. Thread-safe; a Python program must hold the interpreter's
 * lock; not from signal handlers. Takes up to about 30 ms when PyTorch is first found.
 * VARVE_INVALID: a source is unknown; the message names the known ones. VARVE_PERMISSION: the
 * process is set-user-id. VARVE_STATE: another thread is in this call. */
VARVE_API enum varve_code varve_collect(const char *sources, struct varve_error *error);

/* Chooses which layers the running session records from now on; 0 pauses it. Returns the former
 * mask. Without a session the call has no effect and returns 0. */
VARVE_API uint32_t varve_layers_set(uint32_t layers);

/* Version "MAJOR.MINOR.PATCH" of the loaded library. Static storage. */
VARVE_API const char *varve_version(void);

#ifdef __cplusplus
}
#endif
#ifdef VARVE_UNLINKED
#define VARVE_CALLS_OF_VARVE 1
#include "varve/unlinked.h"
#endif

#ifdef __cplusplus
namespace varve
{
/* A range as long as this object lives, for a name that is known only at run time. */
class range
{
public:
    explicit range(const char *name, uint32_t layer = VARVE_LAYER_OP)
    {
        varve_begin_name(name, layer);
    }
    ~range() { varve_end(); }
    range(const range &) = delete;
    range &operator=(const range &) = delete;
};
}
#endif
#endif
