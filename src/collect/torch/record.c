/* SPDX-License-Identifier: Apache-2.0 */
/* record.c — the callbacks around every at::RecordFunction, a guard that lives as long as its
 * operator runs.
 *
 * Each scope has a callback of its own, so that the scope need not be read from the guard. A begin
 * and its arguments take one place in the stream and one reading of the clock. On a thread, guards
 * end in the reverse order of their begins. Asynchronous guards do not: they begin on one thread
 * and end on another, and their handles tell them apart. */
#include "collect/torch/record.h"

#include <pthread.h>
#include <string.h>

#include "base/system/libc.h"
#include "base/system/os.h"
#include "collect/torch/arguments.h"
#include "collect/torch/names.h"
#include "ctf/metadata_write.h"
#include "record/counts.h"
#include "record/source_note.h"

#define THREADS_MAX 65536u
#define NO_KERNEL_THREAD (UINT64_C(1) << 32) /* plus PyTorch's number: a thread not seen yet     */
#define CALL_HEAD_WORDS 4u
#define OUTPUT_WORDS_MAX (VV_OUTPUTS_MAX * (2 + VV_TORCH_INLINE_RANK))

static struct vv_torch_api torch;
static uint64_t handles[VV_TORCH_SCOPES];

/* The data that each record reads, in one cache line. */
static _Alignas(64) struct {
    struct vv_torch_layout layout;
    struct vv_torch_wishes wishes;
    bool gives_data; /* is recorded: data are wanted, and known in the layout                    */
    uint32_t generation; /* changes in a forked child: its thread has another id                 */
    const void *undefined; /* as in struct vv_torch_api                                          */
} hot = { .generation = 1 };

/* ---- PyTorch has its own numbers of threads ---- */

static uint32_t *kernel_threads;    /* index: PyTorch's number; 0 = not seen; atomic             */

static __attribute__((noinline)) void meet_thread(void)
{
    uint64_t number = torch.current_thread();
    if (number < THREADS_MAX)
        __atomic_store_n(&kernel_threads[number], (uint32_t)vv_os_tid(), __ATOMIC_RELAXED);
    vv_self.met = hot.generation;
}

static uint64_t kernel_thread(uint64_t number)
{
    uint32_t tid = number > 0 && number < THREADS_MAX
                       ? __atomic_load_n(&kernel_threads[number], __ATOMIC_RELAXED)
                       : 0;
    return tid != 0 || number == 0 ? tid : NO_KERNEL_THREAD + number;
}

static void after_fork(void)
{
    hot.generation++;
}

/* ---- steps that a schedule counts: those that PyTorch's optimizers make ---- */

static inline bool are_steps_counted(void)
{
    return VARVE_UNLIKELY(__atomic_load_n(&varve_control_page.steps, __ATOMIC_RELAXED) != 0);
}

/* The first step begins with the first operator, unless the program marks steps of its own. */
static __attribute__((noinline)) void begin_first_step(void)
{
    static bool has_begun; /* atomic */
    if (!__atomic_exchange_n(&has_begun, true, __ATOMIC_RELAXED) && vv_self.step_depth == 0)
        varve_emit_schedule(1);
}

static __attribute__((noinline)) void end_step(const void *guard)
{
    static const char step[] = "Optimizer.step#";
    if (vv_self.step_depth != 0 || strncmp(torch.name(guard), step, sizeof step - 1) != 0)
        return;
    varve_emit_schedule(0);
    varve_emit_schedule(1);
}

/* ---- beside torch.profiler ---- */

/* Called where a range of the user begins, which is rare and costly anyway: steps, optimizers and
 * data loaders have such ranges. */
VV_INLINE void look_for_profiler(void)
{
    static bool is_seen; /* atomic */
    if (!__atomic_load_n(&is_seen, __ATOMIC_RELAXED) && torch.is_profiled != NULL &&
        torch.is_profiled() && !__atomic_exchange_n(&is_seen, true, __ATOMIC_RELAXED))
        vv_collector_note("torch.profiler", VV_COLLECTOR_NOTE,
                          "runs too: its times hold our cost, ours hold its");
}

/* ---- begin ---- */

struct begin { /* mostly a few words, which follow their counts                                  */
    size_t begin_words, call_words;
    uint32_t group; /* string id that the call names; 0 = none */
    uint64_t words[2 + VV_CALL_WORDS_MAX]; /* the range's begin, then its call */
};

/* Sets the first words: the class of a site, or the id of the text. False: the range cannot be
 * recorded, and was counted as lost. */
static bool name_begin(struct vv_self *self, struct begin *begin,
                       const struct vv_torch_operator *known, const char *text, uint32_t layer)
{
    uint32_t id;
    if (known != NULL) {
        id = vv_site_id((struct varve_site *)(uintptr_t)&known->site, VV_KIND_BEGIN);
        begin->words[0] = id;
        begin->begin_words = 1;
    } else {
        id = vv_string_known(text);
        if (id == 0 && vv_recorder_lock()) {
            id = vv_string_id(text);
            vv_recorder_unlock();
        }
        begin->words[0] = VV_EVENT_BEGIN;
        begin->words[1] = (uint64_t)vv_layer_single(layer) << 32 | id;
        begin->begin_words = 2;
        vv_self_in_epoch();
    }
    if (id == 0)
        vv_thread_discard(self, 1);
    return id != 0;
}

/* The inputs of a guard. */
struct inputs {
    const struct vv_torch_value *values;
    size_t count;
};

VV_INLINE struct inputs inputs_of(const uint8_t *guard, const struct vv_torch_operator *known)
{
    const struct vv_torch_value *values =
        (const struct vv_torch_value *)(uintptr_t)vv_torch_word(guard, hot.layout.inputs.values);
    size_t count = vv_torch_word(guard, hot.layout.inputs.values + 8u);
    /* The values are the interpreter's whole stack; this operator's inputs are the last ones. */
    if (known != NULL && known->inputs < count) {
        values += count - known->inputs;
        count = known->inputs;
    }
    return (struct inputs){ values, count };
}

static VV_HOT void add_inputs(struct vv_torch_arguments *arguments, const uint8_t *guard,
                              const struct vv_torch_operator *known)
{
    struct inputs inputs = inputs_of(guard, known);
    vv_torch_arguments_add(arguments, &hot.layout, inputs.values, inputs.count, hot.undefined,
                           hot.wishes.strides);
}

/* A tensor of the largest rank, with strides. If there was less room, one may have been left out,
 * and others behind it not: then numbers in the order of the tensors would be wrong. */
#define LARGEST_TENSOR_WORDS (2 + 2 * VV_TENSOR_RANK_MAX)

/* Behind the call, in a record of its own: what records no data must not pay for it. */
static __attribute__((noinline)) void put_identities(struct vv_self *self,
                                                     const struct begin *begin,
                                                     const uint8_t *guard,
                                                     const struct vv_torch_operator *known)
{
    uint64_t words[1 + VV_CALL_ARGUMENTS_MAX];
    struct inputs inputs = inputs_of(guard, known);
    if (begin->call_words == 0 || VV_CALL_WORDS_MAX - begin->call_words < LARGEST_TENSOR_WORDS)
        return;
    words[0] = vv_torch_identities(&hot.layout, inputs.values, inputs.count, hot.undefined,
                                   words + 1, VV_CALL_ARGUMENTS_MAX);
    if (words[0] > 0)
        vv_put_fields(self, VV_EVENT_IDENTITIES, words, 1 + (size_t)words[0]);
}

VV_INLINE void add_call(struct begin *begin, const uint8_t *guard, uint32_t scope,
                        const struct vv_torch_operator *known)
{
    uint64_t *words = begin->words + begin->begin_words;
    uint64_t sequence = vv_torch_word(guard, hot.layout.numbers.sequence);
    struct vv_torch_arguments arguments = { words, CALL_HEAD_WORDS, VV_CALL_WORDS_MAX, 0, 0 };
    if (hot.wishes.inputs && hot.layout.rung >= VV_TORCH_INPUTS)
        add_inputs(&arguments, guard, known);
    if (scope == VV_SCOPE_FUNCTION && sequence == UINT64_MAX && arguments.count == 0)
        return;
    words[1] = sequence;
    words[2] = scope == VV_SCOPE_BACKWARD_FUNCTION
                   ? kernel_thread(vv_torch_word(guard, hot.layout.numbers.forward_thread)) : 0;
    words[3] = (uint64_t)scope << 32 | arguments.count;
    begin->call_words = arguments.word_count;
    begin->group = arguments.string;
}

static void put_begin(struct vv_self *self, const struct begin *begin)
{
    const size_t words = begin->begin_words + begin->call_words, bytes = 8 * words;
    const uint32_t string = begin->begin_words > 1 ? (uint32_t)begin->words[1] : begin->group;
    struct vv_place place = vv_reserve_naming(self, bytes, string);
    if (place.words == NULL)
        return;
    if (VV_LIKELY(words == 1)) {
        vv_put_word(self, &place, (uint32_t)begin->words[0]);
        return;
    }
    /* Until both records are whole, the place looks like one record of unknown length.
     * vv_stream_settle hides such a record. */
    place.words[0] = vv_record_word(VV_EVENT_CALL, place.ticks);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    size_t at = 1;
    for (; at + 2 <= words; at += 2) /* few words: cheaper than a call of memcpy */
        memcpy(place.words + at, begin->words + at, 16);
    if (at < words)
        place.words[at] = begin->words[at];
    if (begin->call_words > 0)
        place.words[begin->begin_words] = vv_record_word(VV_EVENT_CALL, place.ticks);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    place.words[0] = vv_record_word((uint32_t)begin->words[0], place.ticks);
    vv_publish(self, &place, bytes);
}

static bool is_async(const void *guard)
{
    return hot.layout.rung >= VV_TORCH_NUMBERS
               ? ((const uint8_t *)guard)[hot.layout.numbers.is_async] != 0
               : torch.is_async(guard);
}

static __attribute__((noinline)) void begin_async(const void *guard)
{
    struct varve_site *site =
        hot.layout.rung >= VV_TORCH_NUMBERS ? vv_torch_async_site(torch.name(guard)) : NULL;
    if (site != NULL)
        varve_async_begin(site, vv_torch_word(guard, hot.layout.numbers.handle));
}

static __attribute__((noinline)) void begin_named(const void *guard, uint32_t usual_layer)
{
    const char *name = torch.name(guard);
    varve_begin_name(name, vv_torch_layer(name, usual_layer));
}

/* Prefetches the cache lines that the record will need. Each may be far away, and the code itself
 * is being fetched meanwhile. */
VV_INLINE void fetch_ahead(const struct vv_self *self, const uint8_t *guard)
{
    const uintptr_t packet = (uintptr_t)self->writer.packet;
    const void *schema = (const void *)(uintptr_t)vv_torch_word(guard, hot.layout.numbers.schema);
    __builtin_prefetch(schema);
    __builtin_prefetch(&vv_torch_operators[vv_torch_operator_hash(schema)]);
    __builtin_prefetch(self->writer.cursor, 1);
    __builtin_prefetch((const void *)(packet + offsetof(struct vv_packet_header, content_bits)), 1);
}

/* One function for all scopes. Operators fill the caches with data between two records, so the size
 * of this function is what costs. */
static VV_HOT __attribute__((noinline)) void begin_guard(const void *guard, uint32_t scope)
{
    const uint8_t *bytes = guard;
    struct vv_self *self = &vv_self;
    fetch_ahead(self, bytes);
    const uint32_t usual_layer = scope == VV_SCOPE_USER ? VARVE_LAYER_API : VARVE_LAYER_OP;
    if (are_steps_counted())
        begin_first_step();
    if (varve_layers() == 0)
        return;
    if (scope == VV_SCOPE_USER)
        look_for_profiler();
    if (VARVE_UNLIKELY(is_async(guard))) {
        begin_async(guard);
        return;
    }
    if (VARVE_UNLIKELY(hot.layout.rung < VV_TORCH_NUMBERS)) {
        begin_named(guard, usual_layer);
        return;
    }
    self = vv_self_in_epoch();
    if (VARVE_UNLIKELY(self->met != hot.generation))
        meet_thread();
    struct begin begin;
    begin.call_words = begin.group = 0;
    const struct vv_torch_operator *known = NULL;
    const char *text = NULL;
    if (bytes[hot.layout.numbers.kind] == 1)
        known = vv_torch_operator_find(
            (const void *)(uintptr_t)vv_torch_word(guard, hot.layout.numbers.schema), guard);
    if (known == NULL)
        text = torch.name(guard);
    const uint32_t layer = known != NULL ? known->site.layer : vv_torch_layer(text, usual_layer);
    const bool is_wanted = vv_is_wanted(self, layer);
    if (is_wanted && name_begin(self, &begin, known, text, layer)) {
        add_call(&begin, guard, scope, known);
        put_begin(self, &begin);
        if (VARVE_UNLIKELY(hot.gives_data))
            put_identities(self, &begin, guard, known);
    }
    vv_push(self, is_wanted);
    vv_count_begin(self, is_wanted);
}

/* ---- the callbacks ---- */

#define START(scope)                                                         \
    static VV_HOT void *start_##scope(void **out_context, const void *guard) \
    {                                                                        \
        *out_context = NULL;                                                 \
        begin_guard(guard, scope);                                           \
        return out_context;                                                  \
    }
START(0) START(1) START(2) START(3) START(4) START(5) START(6) START(7) START(8) START(9)

static void *(*const starts[VV_TORCH_SCOPES])(void **, const void *) = {
    start_0, start_1, start_2, start_3, start_4, start_5, start_6, start_7, start_8, start_9,
};

/* The async flag must be read now: it may not have been set when the guard began. */
static VV_HOT void end_guard(const void *guard, void *context)
{
    (void)context;
    if (VARVE_UNLIKELY(is_async(guard))) {
        struct varve_site *site =
            hot.layout.rung >= VV_TORCH_NUMBERS ? vv_torch_async_site(torch.name(guard)) : NULL;
        if (site != NULL)
            varve_async_end(site, vv_torch_word(guard, hot.layout.numbers.handle));
        return;
    }
    if (varve_layers() != 0)
        vv_emit_end();
}

/* Says what the operator gives back, where its range is recorded. */
static VV_HOT void put_outputs(const uint8_t *guard)
{
    uint64_t words[1 + OUTPUT_WORDS_MAX];
    uint64_t first = vv_torch_word(guard, hot.layout.data.outputs);
    size_t count = (vv_torch_word(guard, hot.layout.data.outputs + 8u) - first) /
                   sizeof(struct vv_torch_value);
    struct vv_self *self = vv_self_in_epoch();
    if (count == 0 || self->depth == 0 || vv_is_skipped(self, self->depth))
        return;
    struct vv_torch_outputs outputs = { words + 1, 0, OUTPUT_WORDS_MAX, 0 };
    vv_torch_outputs_add(&outputs, &hot.layout,
                         (const struct vv_torch_value *)(uintptr_t)first, count, hot.undefined);
    words[0] = outputs.count;
    if (outputs.count > 0)
        vv_put_fields(self, VV_EVENT_OUTPUTS, words, 1 + outputs.word_count);
}

static VV_HOT void end_with_outputs(const void *guard, void *context)
{
    if (varve_layers() != 0 && !is_async(guard))
        put_outputs(guard);
    end_guard(guard, context);
}

static void end_user_range(const void *guard, void *context)
{
    end_guard(guard, context);
    if (are_steps_counted())
        end_step(guard);
}

bool vv_torch_record_begin(const struct vv_torch_api *api, const struct vv_torch_layout *found,
                           const struct vv_torch_wishes *wanted)
{
    static bool hears_forks;
    torch = *api;
    hot.layout = *found;
    hot.wishes = *wanted;
    hot.undefined = api->undefined;
    hot.gives_data = hot.wishes.data && hot.layout.data.is_known;
    if (kernel_threads == NULL)
        kernel_threads = vv_os_reserve(THREADS_MAX * sizeof *kernel_threads);
    if (!vv_torch_names_begin(&torch) || kernel_threads == NULL)
        return false;
    if (!hears_forks)
        hears_forks = vv_libc_at_fork(NULL, NULL, after_fork) == 0;
    for (size_t scope = 0; scope < VV_TORCH_SCOPES; scope++) {
        struct vv_torch_callback callback = { starts[scope], end_guard, 1.0, { 0 }, 0, 0, 1 };
        callback.scopes[scope] = 1;
        if (scope == VV_SCOPE_USER)
            callback.end = end_user_range;
        else if (scope == VV_SCOPE_FUNCTION && hot.gives_data)
            callback.end = end_with_outputs;
        callback.needs_outputs = hot.gives_data && scope == VV_SCOPE_FUNCTION;
        callback.needs_inputs = hot.wishes.inputs && hot.layout.rung >= VV_TORCH_INPUTS;
        handles[scope] = torch.add(callback);
    }
    return true;
}

void vv_torch_record_end(void)
{
    for (size_t scope = 0; scope < VV_TORCH_SCOPES; scope++)
        torch.remove(handles[scope]);
}
