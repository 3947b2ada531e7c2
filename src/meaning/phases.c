/* SPDX-License-Identifier: Apache-2.0 */
#include "meaning/phases.h"

#include <inttypes.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/radix.h"
#include "meaning/autograd_links.h"
#include "varve/varve.h"

/* What the name alone says about a slice. */
enum meaning { UNKNOWN, NOTHING, ENGINE, OPTIMIZER, LOADER, CHECKPOINT, RECOMPUTES };

/* What is told of a slice: its meaning, and these. */
enum told {
    MEANING = 0x0f,
    LINKED = 0x10,            /* a link ends there                                              */
    BACKWARD_OPERATOR = 0x20, /* the same, or its numbers say so                                */
    NUMBERED = 0x40           /* another operator that has a sequence number                    */
};

struct finding {
    const struct vv_model *model;
    struct vv_scratch *scratch;
    uint8_t *phases;
    uint8_t *told;        /* by slice                                                           */
    bool has_backward;    /* some slice is a BACKWARD_OPERATOR                                  */
    bool *is_forward;     /* track -> it has a linked forward operator outside backward          */
    int64_t *forwards_ns; /* begins of these operators, in order                                */
    size_t forward_count;
    struct vv_autograd_links links;
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), of_end = strlen(end);
    return length >= of_end && strcmp(text + length - of_end, end) == 0;
}

/* Is this the Python frame "torch/utils/checkpoint.py(…): recompute_fn", or its unpack_hook? */
static bool is_recomputing_frame(const char *name)
{
    return strstr(name, "torch/utils/checkpoint.py(") != NULL &&
           (ends_with(name, ": recompute_fn") || ends_with(name, ": unpack_hook"));
}

static enum meaning meaning_of_name(const char *name)
{
    if (vv_is_engine_range(name))
        return ENGINE;
    if (strncmp(name, "Optimizer.", 10) == 0)
        return OPTIMIZER;
    if (strncmp(name, "enumerate(DataLoader)#", 22) == 0)
        return LOADER;
    if (strcmp(name, "CheckpointFunctionBackward") == 0)
        return CHECKPOINT;
    return is_recomputing_frame(name) ? RECOMPUTES : NOTHING;
}

static inline enum meaning meaning_of(const struct finding *finding, uint32_t slice)
{
    return finding->told[slice] & MEANING;
}

static inline bool is_backward_operator(const struct finding *finding, uint32_t slice)
{
    return (finding->told[slice] & BACKWARD_OPERATOR) != 0;
}

static inline bool is_numbered(const struct finding *finding, uint32_t slice)
{
    return (finding->told[slice] & NUMBERED) != 0;
}

/* Looks at each name, and at each operator's numbers, once. The links' ends are marked already. */
static enum varve_code find_told(struct finding *finding, struct varve_error *error)
{
    const struct vv_model *model = finding->model;
    const struct vv_ops *ops = &model->ops;
    uint8_t *meanings;
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &meanings, model->strings.count, error));
    for (uint32_t row = 0; row < model->slices.table.count; row++) {
        uint32_t name = model->slices.name[row], op = model->slices.op[row];
        if (meanings[name] == UNKNOWN)
            meanings[name] = (uint8_t)meaning_of_name(vv_intern_text(&model->strings, name));
        bool has_number = op != VV_NONE && ops->sequence[op] >= 0;
        if (has_number && ops->forward_tid[op] != 0)
            finding->told[row] |= BACKWARD_OPERATOR;
        if (has_number && meanings[name] != ENGINE && !is_backward_operator(finding, row))
            finding->told[row] |= NUMBERED;
        finding->told[row] |= meanings[name];
        finding->has_backward |= is_backward_operator(finding, row);
    }
    return VARVE_OK;
}

/* ---- what a slice and its parents tell ---- */

static enum vv_op_phase phase_by_itself(const struct finding *finding, uint32_t slice)
{
    uint32_t parent = finding->model->slices.parent[slice];
    enum vv_op_phase around = parent != VV_NONE ? finding->phases[parent] : VV_PHASE_NONE;
    switch (meaning_of(finding, slice)) {
    case ENGINE:
        return VV_PHASE_BACKWARD;
    case OPTIMIZER:
        return VV_PHASE_OPTIMIZER;
    case LOADER:
        return VV_PHASE_DATA;
    case RECOMPUTES:
        return around == VV_PHASE_BACKWARD ? VV_PHASE_RECOMPUTE : around;
    default:
        break;
    }
    if (is_backward_operator(finding, slice))
        return VV_PHASE_BACKWARD;
    if (around == VV_PHASE_BACKWARD && meaning_of(finding, parent) == CHECKPOINT)
        return VV_PHASE_RECOMPUTE;
    return around;
}

/* ---- an optimizer that calls forward and backward itself ---- */

/* State while the closures of optimizers are searched. */
struct closures {
    bool *has_forward;      /* slice -> it is or holds a linked forward operator below an
                               optimizer */
    bool *has_pass;         /* the same, or a backward operator                                 */
    bool *is_inside;        /* slice -> it is an optimizer that has a pass, or is open in one   */
    int64_t *backwards_ns;  /* begins of the outermost backward slices, in order                */
    size_t backward_count;
    int64_t forward_ns;     /* begin of the last linked forward operator of the open optimizer; or
                               INT64_MAX */
};

/* Says which slices below optimizers hold a pass. False: no optimizer holds one. */
static bool find_passes(struct finding *finding, struct closures *closures)
{
    const struct vv_slices *slices = &finding->model->slices;
    bool is_any = false;
    for (size_t i = 0; i < finding->links.count; i++) {
        uint32_t forward = finding->links.items[i].forward;
        if (finding->phases[forward] == VV_PHASE_OPTIMIZER)
            closures->has_forward[forward] = closures->has_pass[forward] = true;
    }
    for (uint32_t row = (uint32_t)slices->table.count; row-- > 0;) {
        uint32_t parent = slices->parent[row];
        bool has_pass = closures->has_pass[row] || finding->phases[row] == VV_PHASE_BACKWARD;
        if (!has_pass || parent == VV_NONE || finding->phases[parent] != VV_PHASE_OPTIMIZER)
            continue;
        closures->has_pass[parent] = true;
        closures->has_forward[parent] |= closures->has_forward[row];
        is_any |= meaning_of(finding, parent) == OPTIMIZER;
    }
    return is_any;
}

static enum varve_code find_backwards(struct finding *finding, struct closures *closures,
                                      struct varve_error *error)
{
    const struct vv_slices *slices = &finding->model->slices;
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &keys, slices->table.count, error));
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row];
        if (finding->phases[row] == VV_PHASE_BACKWARD &&
            (parent == VV_NONE || finding->phases[parent] != VV_PHASE_BACKWARD))
            keys[closures->backward_count++] =
                (struct vv_keyed_row){ (uint64_t)slices->begin_ns[row] ^ UINT64_C(1) << 63, row };
    }
    VV_TRY(vv_radix_sort(keys, closures->backward_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &closures->backwards_ns, closures->backward_count,
                            error));
    for (size_t i = 0; i < closures->backward_count; i++)
        closures->backwards_ns[i] = slices->begin_ns[keys[i].row];
    return VARVE_OK;
}

/* The phase of a slice of the optimizer, other than its range, while a closure may be running. An
 * operator without a link is forward if it follows a linked one before any backward begins. */
static enum vv_op_phase phase_in_closure(struct finding *finding, struct closures *closures,
                                         uint32_t row)
{
    const struct vv_slices *slices = &finding->model->slices;
    int64_t begin_ns = slices->begin_ns[row];
    bool is_operator = (slices->layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_COMM)) != 0 &&
                       (slices->flags[row] & VV_SLICE_ANNOTATION) == 0;
    if (finding->phases[slices->parent[row]] == VV_PHASE_FORWARD)
        return VV_PHASE_FORWARD;
    if (is_operator && closures->has_forward[row]) {
        closures->forward_ns = begin_ns;
        return VV_PHASE_FORWARD;
    }
    if (!is_operator || closures->has_pass[row])
        return VV_PHASE_NONE;
    size_t next = VV_FIRST_NOT(i, 0, closures->backward_count,
                               closures->backwards_ns[i] < closures->forward_ns);
    bool is_after = closures->forward_ns < begin_ns && next < closures->backward_count &&
                    closures->backwards_ns[next] >= begin_ns;
    return is_after ? VV_PHASE_FORWARD : VV_PHASE_OPTIMIZER;
}

/* Optimizer.step(closure) holds forward and backward. Its range then is in no phase, as ranges
 * around both are. */
static enum varve_code mark_closures(struct finding *finding, struct varve_error *error)
{
    const struct vv_slices *slices = &finding->model->slices;
    uint64_t rows = slices->table.count;
    struct closures closures = { .forward_ns = INT64_MAX };
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &closures.has_forward, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &closures.has_pass, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &closures.is_inside, rows, error));
    if (!find_passes(finding, &closures))
        return VARVE_OK;
    VV_TRY(find_backwards(finding, &closures, error));
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t parent = slices->parent[row];
        if (finding->phases[row] != VV_PHASE_OPTIMIZER)
            continue;
        if (meaning_of(finding, row) == OPTIMIZER && closures.has_pass[row]) {
            closures.forward_ns = INT64_MAX;
            finding->phases[row] = VV_PHASE_NONE;
        } else if (meaning_of(finding, row) != OPTIMIZER && closures.is_inside[parent]) {
            finding->phases[row] = (uint8_t)phase_in_closure(finding, &closures, row);
        }
        closures.is_inside[row] = finding->phases[row] != VV_PHASE_OPTIMIZER;
    }
    return VARVE_OK;
}

static enum varve_code find_forwards(struct finding *finding, struct varve_error *error)
{
    const struct vv_slices *slices = &finding->model->slices;
    struct vv_keyed_row *keys;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &keys, finding->links.count, error));
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &finding->forwards_ns, finding->links.count, error));
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &finding->is_forward,
                            finding->model->tracks.table.count, error));
    for (size_t i = 0; i < finding->links.count; i++) {
        uint32_t forward = finding->links.items[i].forward;
        if (finding->phases[forward] != VV_PHASE_NONE &&
            finding->phases[forward] != VV_PHASE_FORWARD)
            continue;
        finding->is_forward[slices->track[forward]] = true;
        keys[finding->forward_count++] =
            (struct vv_keyed_row){ (uint64_t)slices->begin_ns[forward] ^ UINT64_C(1) << 63,
                                   forward };
    }
    VV_TRY(vv_radix_sort(keys, finding->forward_count, error));
    for (size_t i = 0; i < finding->forward_count; i++)
        finding->forwards_ns[i] = slices->begin_ns[keys[i].row];
    return VARVE_OK;
}

/* Does a forward operator begin in [from_ns, to_ns)? */
static bool has_forward_between(const struct finding *finding, int64_t from_ns, int64_t to_ns)
{
    size_t first = VV_FIRST_NOT(i, 0, finding->forward_count, finding->forwards_ns[i] < from_ns);
    return first < finding->forward_count && finding->forwards_ns[first] < to_ns;
}

/* An operator inside a backward pass that has a backward operator in the same pass repeats a
 * forward computation whose result was not kept. If its backward operator comes in a later pass, it
 * is differentiated twice instead. */
static void mark_linked_again(struct finding *finding)
{
    const struct vv_slices *slices = &finding->model->slices;
    for (size_t i = 0; i < finding->links.count; i++) {
        const struct vv_autograd_link *link = &finding->links.items[i];
        if (finding->phases[link->forward] == VV_PHASE_BACKWARD &&
            (finding->told[link->forward] & LINKED) == 0 &&
            !has_forward_between(finding, slices->begin_ns[link->forward],
                                 slices->begin_ns[link->backward]))
            finding->phases[link->forward] = VV_PHASE_RECOMPUTE;
    }
}

/* PyTorch numbers operators while it records them for differentiation. If a backward operator calls
 * some operators with a number and some without, a checkpoint that saves nothing recomputed its
 * inputs, and recorded only during that time. If it calls only numbered operators, it is
 * differentiated itself. */
static enum varve_code mark_numbered(struct finding *finding, struct varve_error *error)
{
    const struct vv_slices *slices = &finding->model->slices;
    uint64_t rows = slices->table.count;
    /* The nearest backward operator around a slice, with no numbered operator between them. */
    uint32_t *callers;
    bool *has_plain;
    if (!finding->has_backward)
        return VARVE_OK;
    VV_TRY(VV_SCRATCH_ARRAY(finding->scratch, &callers, rows, error));
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &has_plain, rows, error));
    for (uint32_t row = 0; row < rows; row++) {
        uint32_t parent = slices->parent[row];
        callers[row] = parent == VV_NONE                         ? VV_NONE
                       : is_backward_operator(finding, parent)   ? parent
                       : callers[parent] == VV_NONE              ? VV_NONE
                       : is_numbered(finding, parent)            ? VV_NONE
                                                                 : callers[parent];
        if (callers[row] != VV_NONE && slices->layer[row] == VARVE_LAYER_OP &&
            !is_numbered(finding, row) && !is_backward_operator(finding, row))
            has_plain[callers[row]] = true;
    }
    for (uint32_t row = 0; row < rows; row++)
        if (callers[row] != VV_NONE && has_plain[callers[row]] &&
            finding->phases[row] == VV_PHASE_BACKWARD && is_numbered(finding, row))
            finding->phases[row] = VV_PHASE_RECOMPUTE;
    return VARVE_OK;
}

/* ---- what the slices around it tell ---- */

static void inherit(struct finding *finding)
{
    const struct vv_model *model = finding->model;
    const struct vv_slices *slices = &model->slices;
    bool has_steps = model->steps.table.count > 0;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        uint32_t parent = slices->parent[row];
        uint8_t around = parent != VV_NONE ? finding->phases[parent] : (uint8_t)VV_PHASE_NONE;
        bool is_told = meaning_of(finding, row) == ENGINE || is_backward_operator(finding, row);
        if (finding->phases[row] == VV_PHASE_BACKWARD && around == VV_PHASE_RECOMPUTE && !is_told)
            finding->phases[row] = VV_PHASE_RECOMPUTE;
        if (finding->phases[row] != VV_PHASE_NONE || meaning_of(finding, row) == OPTIMIZER)
            continue;
        if (around == VV_PHASE_FORWARD ||
            (finding->is_forward[slices->track[row]] &&
             (slices->layer[row] & (VARVE_LAYER_OP | VARVE_LAYER_COMM)) &&
             (slices->flags[row] & VV_SLICE_STEP) == 0 &&
             (!has_steps || slices->step[row] != VV_NONE)))
            finding->phases[row] = VV_PHASE_FORWARD;
    }
}

static bool has_xla_names(const struct vv_model *model)
{
    for (uint32_t id = 0; id < model->strings.count; id++)
        if (strstr(vv_intern_text(&model->strings, id), "jvp(") != NULL)
            return true;
    return false;
}

/* XLA names in each kernel the program's operation that it came from:
 * "jit(f)/transpose(jvp(g))/dot". */
static void read_xla(struct finding *finding)
{
    const struct vv_model *model = finding->model;
    const struct vv_slices *slices = &model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        for (uint32_t n = 0; slices->activity[row] != VV_NONE && n < slices->arg_count[row]; n++) {
            uint32_t arg = slices->first_arg[row] + n;
            if (model->args.kind[arg] != VV_ARG_TEXT)
                continue;
            const char *text = vv_intern_text(&model->strings, (uint32_t)model->args.value[arg]);
            if (strstr(text, "transpose(jvp") != NULL)
                finding->phases[row] = VV_PHASE_BACKWARD;
            else if (strstr(text, "jvp(") != NULL && finding->phases[row] == VV_PHASE_NONE)
                finding->phases[row] = VV_PHASE_FORWARD;
        }
    }
}

static bool has_recorded_phases(const struct vv_model *model)
{
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        if (model->slices.flags[row] & VV_SLICE_PHASE)
            return true;
    return false;
}

static enum varve_code find_phases(struct finding *finding, struct varve_error *error)
{
    const struct vv_model *model = finding->model;
    size_t rows = model->slices.table.count + 1;
    VV_TRY(VV_SCRATCH_ZEROS(finding->scratch, &finding->told, rows, error));
    VV_TRY(vv_autograd_links(model, &finding->links, error));
    for (size_t i = 0; i < finding->links.count; i++)
        finding->told[finding->links.items[i].backward] = LINKED | BACKWARD_OPERATOR;
    VV_TRY(find_told(finding, error));
    for (uint32_t row = 0; row < model->slices.table.count; row++)
        finding->phases[row] = (uint8_t)phase_by_itself(finding, row);
    VV_TRY(mark_closures(finding, error));
    VV_TRY(find_forwards(finding, error));
    mark_linked_again(finding);
    VV_TRY(mark_numbered(finding, error));
    inherit(finding);
    if (has_xla_names(model))
        read_xla(finding);
    return VARVE_OK;
}

static enum varve_code find_all(const struct vv_model *model, struct vv_scratch *scratch,
                                void *out_found, struct varve_error *error)
{
    struct vv_op_phases *out_phases = out_found;
    struct vv_scratch own = { 0 };
    struct finding finding = { .model = model, .scratch = &own };
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &finding.phases, model->slices.table.count, error));
    enum varve_code code = find_phases(&finding, error);
    vv_scratch_deinit(&own);
    out_phases->of_slice = finding.phases;
    return code;
}

enum varve_code vv_op_phases_found(const struct vv_model *model, struct vv_op_phases *out_phases,
                                   struct varve_error *error)
{
    return vv_model_once(model, VV_ONCE_OP_PHASES, find_all, out_phases, sizeof *out_phases, error);
}

enum varve_code vv_op_phases(const struct vv_model *model, struct vv_op_phases *out_phases,
                             struct varve_error *error)
{
    *out_phases = (struct vv_op_phases){ 0 };
    return has_recorded_phases(model) ? VARVE_OK : vv_op_phases_found(model, out_phases, error);
}

uint32_t vv_phase_of(const struct vv_model *model, const struct vv_op_phases *phases,
                     uint32_t slice)
{
    if (phases->of_slice != NULL)
        return phases->of_slice[slice] != VV_PHASE_NONE ? VV_PHASE_FOUND | phases->of_slice[slice]
                                                        : VV_NONE;
    uint32_t phase = model->slices.phase[slice];
    return phase != VV_NONE ? model->slices.name[phase] : VV_NONE;
}

const char *vv_phase_text(const struct vv_model *model, uint32_t phase)
{
    static const char *const texts[VV_PHASE_COUNT] = {
        [VV_PHASE_NONE] = "",
        [VV_PHASE_DATA] = "data",
        [VV_PHASE_RECOMPUTE] = "recompute",
        [VV_PHASE_OPTIMIZER] = "optimizer",
        [VV_PHASE_BACKWARD] = "backward",
        [VV_PHASE_FORWARD] = "forward",
        [VV_PHASE_COMMUNICATION] = "communication",
    };
    uint32_t found = phase & ~VV_PHASE_FOUND;
    if (phase & VV_PHASE_FOUND)
        return found < VV_PHASE_COUNT ? texts[found] : "";
    return vv_intern_text(&model->strings, phase);
}
