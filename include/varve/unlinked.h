/* SPDX-License-Identifier: Apache-2.0 */
/* unlinked.h — what stands in for libvarve.so in a program that is not linked to it. The other
 * headers include this one; a program defines one of two macros before it includes any of them.
 *
 *     cc -DVARVE_DISABLE program.c     All marks compile to nothing. No symbol of Varve's is left.
 *     cc -DVARVE_WEAK program.c        Calls go to libvarve.so if the process has it, as under
 *                                      `varve record`. Else a mark costs one load and one branch.
 *
 * Both work in C99 and C++11, in programs, in static and in shared libraries, and files that are
 * compiled in different ways go into one program. What a mark does in a program without the library
 * is what it does while nothing is recorded. Other functions do nothing: a function that may fail
 * returns VARVE_UNSUPPORTED and writes no output, other numbers are 0, sequences -1, pointers NULL,
 * and varve_version() is "0.0.0".
 *
 * VARVE_WEAK looks for the library when the program, or the shared library that has the marks, is
 * loaded: before main, and before constructors of C++. A library that comes later is not found. It
 * is looked for by the name libvarve.so.0, however it was loaded, and by dlsym: with a libc older
 * than glibc 2.34, link with -ldl. A program without dlsym, such as a static one, runs as if
 * nothing were recorded. */
#ifdef VARVE_UNLINKED

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* ---- how a call is made ---- */

#ifndef VARVE_UNLINKED_H
#define VARVE_UNLINKED_H

#ifdef VARVE_DISABLE
#define VARVE_WHY_UNLINKED_ "this program was compiled with VARVE_DISABLE: it has no Varve"

#define VARVE_DOES_(table, name, parameters, arguments, otherwise) \
    VARVE_API void name parameters { otherwise; }
#define VARVE_GIVES_(table, type, name, parameters, arguments, otherwise) \
    VARVE_API type name parameters { return otherwise; }
#define VARVE_STAND_INS_(table, calls) calls(table, VARVE_DOES_, VARVE_GIVES_)

#else
#define VARVE_WHY_UNLINKED_ "libvarve.so is not loaded: start the program by `varve record --`"

/* One of each in a program or shared library: files share it, and no other module sees it. */
#define VARVE_ONE_OF_MODULE_ __attribute__((weak, visibility("hidden")))

/* By other names, as the program may have included <dlfcn.h>, or not. */
extern void *varve_dlsym_(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
extern void *varve_dlopen_(const char *name, int flags) __asm__("dlopen") __attribute__((weak));
extern char *varve_dlerror_(void) __asm__("dlerror") __attribute__((weak));

struct varve_weak_library_ {
    void *handle; /* for dlsym: NULL = all that is loaded                                      */
    int is_looked_for;
};
extern VARVE_ONE_OF_MODULE_ struct varve_weak_library_ varve_weak_library_;
VARVE_ONE_OF_MODULE_ struct varve_weak_library_ varve_weak_library_;
VARVE_ONE_OF_MODULE_ const struct varve_control *varve_weak_page_;
extern VARVE_ONE_OF_MODULE_ const uint32_t *varve_weak_heard_;
VARVE_ONE_OF_MODULE_ const uint32_t *varve_weak_heard_;

static inline void varve_weak_find_(const char *name, void *out_pointer)
{
    void *found = varve_dlsym_(varve_weak_library_.handle, name);
    __builtin_memcpy(out_pointer, &found, sizeof found);
}

/* Is the library in the process? */
static inline int varve_weak_is_there_(void)
{
    if (varve_weak_library_.is_looked_for || varve_dlsym_ == NULL)
        return varve_weak_page_ != NULL;
    varve_weak_library_.is_looked_for = 1;
    varve_weak_find_("varve_control_page", &varve_weak_page_);
    if (varve_weak_page_ == NULL && varve_dlopen_ != NULL) {
        varve_weak_library_.handle = varve_dlopen_("libvarve.so.0", 5); /* RTLD_LAZY, _NOLOAD */
        if (varve_weak_library_.handle != NULL)
            varve_weak_find_("varve_control_page", &varve_weak_page_);
    }
    varve_weak_find_("varve_executor_heard", &varve_weak_heard_);
    if (varve_weak_page_ == NULL && varve_dlerror_ != NULL)
        varve_dlerror_(); /* not for the program's next look */
    return varve_weak_page_ != NULL;
}

#define VARVE_MEMBER_DOES_(table, name, parameters, arguments, otherwise) void (*name) parameters;
#define VARVE_MEMBER_GIVES_(table, type, name, parameters, arguments, otherwise) \
    type (*name) parameters;
#define VARVE_FIND_DOES_(table, name, parameters, arguments, otherwise) \
    varve_weak_find_(#name, &table.name);
#define VARVE_FIND_GIVES_(table, type, name, parameters, arguments, otherwise) \
    varve_weak_find_(#name, &table.name);
#define VARVE_DOES_(table, name, parameters, arguments, otherwise) \
    VARVE_API void name parameters                                 \
    {                                                              \
        if (table.name != NULL)                                    \
            table.name arguments;                                  \
        else                                                       \
            otherwise;                                             \
    }
#define VARVE_GIVES_(table, type, name, parameters, arguments, otherwise) \
    VARVE_API type name parameters                                        \
    {                                                                     \
        return table.name != NULL ? table.name arguments : otherwise;     \
    }
#define VARVE_STAND_INS_(table, calls)                                         \
    struct table {                                                             \
        int is_found;                                                          \
        calls(table, VARVE_MEMBER_DOES_, VARVE_MEMBER_GIVES_)                  \
    };                                                                         \
    extern VARVE_ONE_OF_MODULE_ struct table table;                            \
    VARVE_ONE_OF_MODULE_ struct table table;                                   \
    static __attribute__((constructor(101))) void table##look(void)            \
    {                                                                          \
        if (!table.is_found && varve_weak_is_there_()) {                       \
            table.is_found = 1;                                                \
            calls(table, VARVE_FIND_DOES_, VARVE_FIND_GIVES_)                  \
        }                                                                      \
    }                                                                          \
    calls(table, VARVE_DOES_, VARVE_GIVES_)
#endif

static inline enum varve_code varve_unlinked_(struct varve_error *error)
{
    static const char why[] = VARVE_WHY_UNLINKED_;
    if (error != NULL) {
        error->code = VARVE_UNSUPPORTED;
        error->os_errno = 0;
        error->offset = VARVE_ERROR_NO_OFFSET;
        __builtin_memcpy(error->message, why, sizeof why);
    }
    return VARVE_UNSUPPORTED;
}

#endif /* VARVE_UNLINKED_H */

/* ---- the calls, by header: parameters, arguments, and what happens without the library ---- */

#ifdef VARVE_CALLS_OF_VARVE
#undef VARVE_CALLS_OF_VARVE
#define VARVE_CALLS_OF_VARVE_(T, DOES, GIVES) \
    DOES(T, varve_emit_begin, (struct varve_site *site), (site), (void)0) \
    DOES(T, varve_emit_next, (struct varve_site *site), (site), (void)0) \
    DOES(T, varve_emit_end, (void), (), (void)0) \
    DOES(T, varve_emit_mark, (struct varve_site *site), (site), (void)0) \
    DOES(T, varve_emit_counter, (struct varve_site *site, double value), (site, value), (void)0) \
    DOES(T, varve_emit_async_begin, (struct varve_site *site, uint64_t id), (site, id), (void)0) \
    DOES(T, varve_emit_async_end, (struct varve_site *site, uint64_t id), (site, id), (void)0) \
    DOES(T, varve_emit_flow_out, (struct varve_site *site, uint64_t id), (site, id), (void)0) \
    DOES(T, varve_emit_flow_in, (struct varve_site *site, uint64_t id), (site, id), (void)0) \
    DOES(T, varve_emit_begin_name, (const char *name, uint32_t layer), (name, layer), (void)0) \
    DOES(T, varve_emit_step_begin, (int64_t index), (index), (void)0) \
    DOES(T, varve_emit_step_end, (void), (), (void)0) \
    DOES(T, varve_emit_schedule, (int begins), (begins), (void)0) \
    DOES(T, varve_emit_told, (void), (), (void)0) \
    DOES(T, varve_emit_alloc, (const void *address, uint64_t bytes, uint32_t device), (address, \
        bytes, device), (void)0) \
    DOES(T, varve_emit_free, (const void *address, uint32_t device), (address, device), (void)0) \
    DOES(T, varve_emit_op, (const struct varve_op_info *info), (info), (void)0) \
    DOES(T, varve_thread_name, (const char *name), (name), (void)0) \
    DOES(T, varve_process_name, (const char *name), (name), (void)0) \
    GIVES(T, enum varve_code, varve_session_start, (const struct varve_session_options *options, \
        struct varve_error *error), (options, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_session_stop, (struct varve_error *error), (error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_session_dump, (const char *output, struct varve_error \
        *error), (output, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_collect, (const char *sources, struct varve_error *error), \
        (sources, error), varve_unlinked_(error)) \
    GIVES(T, uint32_t, varve_layers_set, (uint32_t layers), (layers), 0) \
    GIVES(T, const char *, varve_version, (void), (), "0.0.0")
VARVE_STAND_INS_(varve_calls_of_varve_, VARVE_CALLS_OF_VARVE_)
#endif

#ifdef VARVE_CALLS_OF_OBSERVER
#undef VARVE_CALLS_OF_OBSERVER
#define VARVE_CALLS_OF_OBSERVER_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_observer_add, (const struct varve_observer *observer, \
        uint64_t *out_handle, struct varve_error *error), (observer, out_handle, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_observer_remove, (uint64_t handle, struct varve_error \
        *error), (handle, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_observer_query, (uint64_t handle, struct \
        varve_observer_state *out, struct varve_error *error), (handle, out, error), \
        varve_unlinked_(error)) \
    DOES(T, varve_observers_suspend, (void), (), (void)0) \
    DOES(T, varve_observers_resume, (void), (), (void)0) \
    GIVES(T, enum varve_code, varve_observers_capture, (struct varve_observers_of_thread *out, \
        struct varve_error *error), (out, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_observers_restore, (const struct varve_observers_of_thread \
        *captured, struct varve_observers_of_thread *out_former, struct varve_error *error), \
        (captured, out_former, error), varve_unlinked_(error)) \
    GIVES(T, uint32_t, varve_emit_guard_needs, (struct varve_guard *guard), (guard), 0) \
    DOES(T, varve_emit_guard_begin, (struct varve_guard *guard, const struct varve_op_info \
        *info), (guard, info), (void)0) \
    DOES(T, varve_emit_guard_end, (struct varve_guard *guard, const struct varve_tensor \
        *outputs, uint32_t output_count), (guard, outputs, output_count), (void)0)
VARVE_STAND_INS_(varve_calls_of_observer_, VARVE_CALLS_OF_OBSERVER_)
#endif

#ifdef VARVE_CALLS_OF_CONTROL
#undef VARVE_CALLS_OF_CONTROL
#define VARVE_CALLS_OF_CONTROL_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_profiling_init, (const char *output, struct varve_error \
        *error), (output, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_init_options, (const char *options, struct \
        varve_error *error), (options, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_init_map, (const struct varve_profiling_entry \
        *entries, size_t count, struct varve_error *error), (entries, count, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_finalize, (struct varve_error *error), (error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_config_create, (const struct \
        varve_profiling_settings *settings, struct varve_profiling_config **out_config, struct \
        varve_error *error), (settings, out_config, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_config_destroy, (struct varve_profiling_config \
        *config, struct varve_error *error), (config, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_start, (const struct varve_profiling_config \
        *config, struct varve_error *error), (config, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_stop, (const struct varve_profiling_config \
        *config, struct varve_error *error), (config, error), varve_unlinked_(error)) \
    GIVES(T, const char *, varve_profiling_option, (const char *key), (key), NULL) \
    GIVES(T, enum varve_code, varve_profiling_callback_add, (varve_profiling_callback *callback, \
        void *context, struct varve_error *error), (callback, context, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profiling_callback_remove, (varve_profiling_callback \
        *callback, void *context, struct varve_error *error), (callback, context, error), \
        varve_unlinked_(error))
VARVE_STAND_INS_(varve_calls_of_control_, VARVE_CALLS_OF_CONTROL_)
#endif

#ifdef VARVE_CALLS_OF_DEVICE
#undef VARVE_CALLS_OF_DEVICE
#define VARVE_CALLS_OF_DEVICE_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_clock_add, (const struct varve_clock_info *info, uint32_t \
        *out_clock, struct varve_error *error), (info, out_clock, error), \
        varve_unlinked_(error)) \
    GIVES(T, uint64_t, varve_ticks, (void), (), 0) \
    DOES(T, varve_clock_pair, (uint32_t clock, int64_t value, uint64_t ticks, uint64_t \
        uncertainty_ns), (clock, value, ticks, uncertainty_ns), (void)0) \
    DOES(T, varve_device_describe, (const struct varve_device_info *info), (info), (void)0) \
    GIVES(T, enum varve_code, varve_track_add, (const struct varve_track_info *info, uint32_t \
        *out_track, struct varve_error *error), (info, out_track, error), \
        varve_unlinked_(error)) \
    DOES(T, varve_emit_activity, (const struct varve_activity_info *info), (info), (void)0) \
    DOES(T, varve_emit_device_counter, (const struct varve_device_counter_info *info), (info), \
        (void)0) \
    DOES(T, varve_emit_launch, (uint64_t correlation), (correlation), (void)0)
VARVE_STAND_INS_(varve_calls_of_device_, VARVE_CALLS_OF_DEVICE_)
#endif

#ifdef VARVE_CALLS_OF_VALUES
#undef VARVE_CALLS_OF_VALUES
#define VARVE_CALLS_OF_VALUES_(T, DOES, GIVES) \
    DOES(T, varve_emit_arg, (struct varve_key *key, uint32_t kind, uint64_t bits), (key, kind, \
        bits), (void)0) \
    DOES(T, varve_emit_args, (const struct varve_arg *args, uint32_t count), (args, count), \
        (void)0) \
    DOES(T, varve_emit_collective, (const struct varve_collective_info *info), (info), (void)0) \
    DOES(T, varve_emit_activity_with, (const struct varve_activity_info *info, const struct \
        varve_activity_values *values), (info, values), (void)0) \
    GIVES(T, int64_t, varve_sequence_peek, (void), (), -1) \
    GIVES(T, int64_t, varve_sequence_next, (void), (), -1) \
    DOES(T, varve_backward_take, (struct varve_backward *out_backward), (out_backward), \
        varve_backward_none_(out_backward))
VARVE_STAND_INS_(varve_calls_of_values_, VARVE_CALLS_OF_VALUES_)
#endif

#ifdef VARVE_CALLS_OF_EXEC
#undef VARVE_CALLS_OF_EXEC
#define VARVE_CALLS_OF_EXEC_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_graph_register, (const struct varve_graph_info *info, \
        uint32_t *out_graph, struct varve_error *error), (info, out_graph, error), \
        varve_unlinked_(error)) \
    DOES(T, varve_graph_unregister, (uint32_t graph), (graph), (void)0) \
    GIVES(T, enum varve_code, varve_graph_place, (uint32_t graph, const struct varve_placement \
        *placements, size_t count, struct varve_error *error), (graph, placements, count, \
        error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_model_load_begin, (const struct varve_model_info *info, \
        uint32_t *out_model, struct varve_error *error), (info, out_model, error), \
        varve_unlinked_(error)) \
    DOES(T, varve_model_load_end, (uint32_t model), (model), (void)0) \
    DOES(T, varve_model_unload, (uint32_t model), (model), (void)0) \
    GIVES(T, enum varve_code, varve_subscriber_add, (uint32_t events, varve_executor_callback \
        callback, void *context, uint32_t *out_subscriber, struct varve_error *error), (events, \
        callback, context, out_subscriber, error), varve_unlinked_(error)) \
    DOES(T, varve_subscriber_remove, (uint32_t subscriber), (subscriber), (void)0) \
    DOES(T, varve_emit_model_begin, (uint32_t model, int64_t step), (model, step), (void)0) \
    DOES(T, varve_emit_model_end, (uint32_t model), (model), (void)0) \
    DOES(T, varve_emit_execute_begin, (uint32_t graph, uint32_t node), (graph, node), (void)0) \
    DOES(T, varve_emit_execute_end, (uint32_t graph, uint32_t node), (graph, node), (void)0) \
    DOES(T, varve_emit_task, (const struct varve_activity_info *info, const struct \
        varve_task_info *task), (info, task), (void)0)
VARVE_STAND_INS_(varve_calls_of_exec_, VARVE_CALLS_OF_EXEC_)
#endif

#ifdef VARVE_CALLS_OF_BACKEND
#undef VARVE_CALLS_OF_BACKEND
#define VARVE_CALLS_OF_BACKEND_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_backend_register, (const struct varve_backend *backend, \
        uint32_t *out_backend, struct varve_error *error), (backend, out_backend, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_backend_open, (const char *name, uint32_t *out_backend, \
        struct varve_error *error), (name, out_backend, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_backend_unregister, (uint32_t backend, struct varve_error \
        *error), (backend, error), varve_unlinked_(error)) \
    GIVES(T, const struct varve_backend *, varve_backend_table, (uint32_t backend), (backend), \
        NULL) \
    GIVES(T, enum varve_code, varve_backend_stats_read, (uint32_t backend, struct \
        varve_backend_stats *out_stats, struct varve_error *error), (backend, out_stats, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_backend_track, (uint32_t backend, const struct \
        varve_device_place *place, const char *name, uint32_t *out_track, struct varve_error \
        *error), (backend, place, name, out_track, error), varve_unlinked_(error)) \
    GIVES(T, uint64_t, varve_emit_device_begin, (const struct varve_device_work *work), (work), \
        0) \
    DOES(T, varve_emit_device_end, (uint64_t number), (number), (void)0) \
    DOES(T, varve_emit_device_event, (const struct varve_device_work *work, void *native_event), \
        (work, native_event), (void)0) \
    DOES(T, varve_emit_device_mark, (const struct varve_device_work *work), (work), (void)0) \
    DOES(T, varve_device_push, (const struct varve_device_work *work), (work), (void)0) \
    DOES(T, varve_device_pop, (void), (), (void)0) \
    DOES(T, varve_device_poll, (void), (), (void)0) \
    GIVES(T, enum varve_code, varve_device_flush, (uint32_t backend, struct varve_error *error), \
        (backend, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_event_record, (uint32_t backend, const struct \
        varve_device_place *place, struct varve_device_event *out_event, int64_t *out_host_ns, \
        struct varve_error *error), (backend, place, out_event, out_host_ns, error), \
        varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_event_elapsed, (const struct varve_device_event *from, const \
        struct varve_device_event *to, int64_t *out_ns, struct varve_error *error), (from, to, \
        out_ns, error), varve_unlinked_(error)) \
    DOES(T, varve_event_release, (struct varve_device_event *event), (event), (void)0) \
    GIVES(T, enum varve_code, varve_devices_synchronize, (uint32_t backend, struct varve_error \
        *error), (backend, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_devices_each, (uint32_t backend, void (*visit)(uint32_t \
        device, void *argument), void *argument, struct varve_error *error), (backend, visit, \
        argument, error), varve_unlinked_(error)) \
    GIVES(T, enum varve_code, varve_profile_state_set, (enum varve_profile_state state, enum \
        varve_profile_state *out_former, struct varve_error *error), (state, out_former, error), \
        varve_unlinked_(error))
VARVE_STAND_INS_(varve_calls_of_backend_, VARVE_CALLS_OF_BACKEND_)
#endif

#ifdef VARVE_CALLS_OF_PAST
#undef VARVE_CALLS_OF_PAST
#define VARVE_CALLS_OF_PAST_(T, DOES, GIVES) \
    DOES(T, varve_emit_past_range, (const struct varve_past_range_info *info), (info), (void)0) \
    DOES(T, varve_emit_past_note, (const struct varve_past_note_info *info), (info), (void)0)
VARVE_STAND_INS_(varve_calls_of_past_, VARVE_CALLS_OF_PAST_)
#endif

#ifdef VARVE_CALLS_OF_TRACE_POINTS
#undef VARVE_CALLS_OF_TRACE_POINTS
#define VARVE_CALLS_OF_TRACE_POINTS_(T, DOES, GIVES) \
    GIVES(T, enum varve_code, varve_trace_plan, (const struct varve_graph_info *graph, const \
        struct varve_trace_options *options, struct varve_trace_plan **out_plan, struct \
        varve_error *error), (graph, options, out_plan, error), varve_unlinked_(error)) \
    GIVES(T, uint32_t, varve_trace_plan_count, (const struct varve_trace_plan *plan), (plan), 0) \
    GIVES(T, const struct varve_trace_point *, varve_trace_plan_point, (const struct \
        varve_trace_plan *plan, uint32_t number), (plan, number), NULL) \
    DOES(T, varve_trace_plan_destroy, (struct varve_trace_plan *plan), (plan), (void)0) \
    DOES(T, varve_trace_plan_record, (const struct varve_trace_plan *plan, uint64_t model), \
        (plan, model), (void)0) \
    DOES(T, varve_emit_trace_mark, (const struct varve_mark_info *info), (info), (void)0)
VARVE_STAND_INS_(varve_calls_of_trace_points_, VARVE_CALLS_OF_TRACE_POINTS_)
#endif

#pragma GCC diagnostic pop

#ifdef __cplusplus
}
#endif
#endif
