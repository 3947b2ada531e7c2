/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c — the rows of the host: calls of HIP, HSA and CUDA, ranges and marks of roctx, and the
 * profiler's own work. Tables of their own (rocpd_kernelapi, rocpd_copyapi …) say more about calls.
 * What they say becomes arguments before the calls are read, so that a call and the work that it
 * started can share them. */
#include "import/rpd/rpd.h"

#ifdef VV_HAVE_SQLITE

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "import/rows/torch_range.h"
#include "varve/varve.h"

#define NAME_BYTES_MAX 512 /* a longer name of an operator is not joined with its data           */
#define DETAILS_MAX 8      /* rows about one call                                                */

/* ---- what is known of calls ---- */

enum varve_code vv_rpd_call_at(struct vv_rpd *rpd, int64_t id, uint32_t *out_index,
                               struct varve_error *error)
{
    uint32_t index = vv_key_map_get(&rpd->calls, (uint64_t)id);
    if (index == VV_KEY_NONE) {
        index = (uint32_t)rpd->known_calls.count;
        VV_TRY(vv_array_reserve(&rpd->known_calls.items, &rpd->known_calls.capacity,
                                rpd->known_calls.count + 1, sizeof *rpd->known_calls.items,
                                error));
        VV_TRY(vv_key_map_put(&rpd->calls, (uint64_t)id, index, error));
        rpd->known_calls.items[rpd->known_calls.count++] =
            (struct vv_rpd_call){ .id = id, .slice = VV_NONE, .first_detail = VV_NONE,
                                  .copy_kind = -1 };
    }
    *out_index = index;
    return VARVE_OK;
}

static enum varve_code add_arg(struct vv_model *model, uint32_t key, struct vv_attribute attribute,
                               struct varve_error *error)
{
    uint32_t row;
    VV_TRY(vv_model_add_arg(model, &row, error));
    model->args.key[row] = key;
    model->args.kind[row] = (uint8_t)attribute.kind;
    model->args.value[row] = attribute.value;
    return VARVE_OK;
}

static enum varve_code add_columns(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                   struct varve_error *error)
{
    uint32_t word;
    for (int i = 0; i < row->column_count; i++) {
        struct vv_attribute attribute;
        bool is_said;
        if (row->roles[i] == VV_RPD_API_PTR)
            continue;
        VV_TRY(vv_database_attribute(rpd->database, row->statement, i, &attribute, &is_said,
                                     error));
        word = row->keys[i];
        if (is_said && row->roles[i] == VV_RPD_KERNEL_NAME) {
            attribute = vv_attribute_text(vv_rpd_string(rpd, row, VV_RPD_KERNEL_NAME));
            VV_TRY(vv_model_text(rpd->model, "kernelName", &word, error));
        }
        bool is_blank = attribute.kind == VV_ARG_TEXT &&
                        vv_intern_text(&rpd->model->strings, (uint32_t)attribute.value)[0] == '\0';
        if (is_said && !is_blank)
            VV_TRY(add_arg(rpd->model, word, attribute, error));
    }
    return VARVE_OK;
}

static int64_t product_of(const struct vv_rpd_row *row, enum vv_rpd_role a, enum vv_rpd_role b)
{
    int64_t product;
    return vv_rpd_int(row, a) > 0 && vv_rpd_int(row, b) > 0 &&
                   !__builtin_mul_overflow(vv_rpd_int(row, a), vv_rpd_int(row, b), &product)
               ? product
               : 0;
}

static void take_copy(const struct vv_rpd_row *row, struct vv_rpd_call *call)
{
    int64_t kind = vv_rpd_int(row, VV_RPD_KIND), bytes = vv_rpd_int(row, VV_RPD_SIZE);
    if (bytes <= 0)
        bytes = product_of(row, VV_RPD_WIDTH, VV_RPD_HEIGHT);
    call->bytes = (uint64_t)bytes;
    call->copy_kind = kind >= 0 && kind <= 3 ? (int8_t)kind : -1;
}

/* A tool of rocmProfileData takes PyTorch's texts apart, and leaves the name alone in the call.
 * This puts the text together again. */
static enum varve_code take_autograd(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                     struct vv_rpd_call *call, struct varve_error *error)
{
    static const struct { enum vv_rpd_role role; const char *says; } parts[] = {
        { VV_RPD_SEQUENCE, ", seq = " }, { VV_RPD_OP, ", op_id = " },
        { VV_RPD_SIZES, ", sizes = " }, { VV_RPD_INPUT_OPS, ", input_op_ids = " },
    };
    const struct vv_intern *strings = &rpd->model->strings;
    char text[8192];
    uint32_t part;
    size_t length = (size_t)snprintf(
        text, NAME_BYTES_MAX, "%s",
        vv_intern_text(strings, vv_rpd_string(rpd, row, VV_RPD_AUTOGRAD_NAME)));
    if (length == 0 || length >= NAME_BYTES_MAX) {
        rpd->model->health.ignored++;
        return VARVE_OK;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        VV_TRY(vv_rpd_text(rpd, row, parts[i].role, &part, error));
        const char *said = vv_intern_text(strings, part);
        size_t bytes = strlen(parts[i].says) + strlen(said);
        if (said[0] == '\0' || bytes >= sizeof text - length)
            continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s", parts[i].says,
                                   said);
    }
    return vv_model_add_text(rpd->model, text, length, &call->said, error);
}

static enum varve_code take_detail(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                   struct varve_error *error)
{
    uint64_t first = rpd->model->args.table.count;
    int64_t id = vv_rpd_int(row, VV_RPD_API_PTR);
    uint32_t index;
    if (id == VV_SPAN_ABSENT) {
        rpd->model->health.ignored++;
        return VARVE_OK;
    }
    VV_TRY(vv_rpd_call_at(rpd, id, &index, error));
    if (row->columns[VV_RPD_AUTOGRAD_NAME] >= 0)
        return take_autograd(rpd, row, &rpd->known_calls.items[index], error);
    if (rpd->known_calls.items[index].detail_count == DETAILS_MAX) {
        rpd->model->health.ignored++;
        return VARVE_OK;
    }
    if (row->columns[VV_RPD_SIZE] >= 0)
        take_copy(row, &rpd->known_calls.items[index]);
    VV_TRY(vv_array_reserve(&rpd->details.items, &rpd->details.capacity, rpd->details.count + 1,
                            sizeof *rpd->details.items, error));
    VV_TRY(add_columns(rpd, row, error));
    struct vv_rpd_call *call = &rpd->known_calls.items[index];
    rpd->details.items[rpd->details.count] =
        (struct vv_rpd_detail){ (uint32_t)first,
                                (uint32_t)(rpd->model->args.table.count - first),
                                call->first_detail };
    call->first_detail = (uint32_t)rpd->details.count++;
    call->detail_count++;
    return VARVE_OK;
}

enum varve_code vv_rpd_read_details(struct vv_rpd *rpd, const char *table,
                                    struct varve_error *error)
{
    return vv_rpd_each(rpd, table, take_detail, error);
}

enum varve_code vv_rpd_share_details(struct vv_rpd *rpd, const struct vv_rpd_call *call,
                                     uint32_t slice, struct varve_error *error)
{
    for (uint32_t next = call->first_detail; next != VV_NONE;) {
        const struct vv_rpd_detail *detail = &rpd->details.items[next];
        const struct vv_attribute rows = {
            VV_ARG_ROWS, VV_ARG_ROWS_VALUE(detail->first_arg, detail->arg_count)
        };
        VV_TRY(vv_attribute_to_slice(rpd->model, slice, 0, rows, error));
        next = detail->next;
    }
    return VARVE_OK;
}

/* Of most launches the grid is counted in blocks. Where it is counted in work items, HIP's own word
 * for that becomes the key. */
static enum varve_code say_work_items(struct vv_rpd *rpd, const struct vv_rpd_call *call,
                                      struct varve_error *error)
{
    static const char *const words[3][2] = { { "gridX", "globalWorkSizeX" },
                                             { "gridY", "globalWorkSizeY" },
                                             { "gridZ", "globalWorkSizeZ" } };
    struct vv_args *args = &rpd->model->args;
    uint32_t keys[3][2], next = call->first_detail;
    for (int axis = 0; axis < 3; axis++)
        for (int i = 0; i < 2; i++)
            VV_TRY(vv_model_text(rpd->model, words[axis][i], &keys[axis][i], error));
    for (; next != VV_NONE; next = rpd->details.items[next].next) {
        const struct vv_rpd_detail *detail = &rpd->details.items[next];
        for (uint32_t i = detail->first_arg; i < detail->first_arg + detail->arg_count; i++)
            for (int axis = 0; axis < 3; axis++)
                if (args->key[i] == keys[axis][0])
                    args->key[i] = keys[axis][1];
    }
    return VARVE_OK;
}

/* ---- calls ---- */

static bool begins_with(const char *name, const char *word)
{
    return strncmp(name, word, strlen(word)) == 0;
}

static bool is_call(const char *name)
{
    return begins_with(name, "hip") || begins_with(name, "hsa_") || begins_with(name, "cuda") ||
           (begins_with(name, "cu") && isupper((unsigned char)name[2]));
}

/* What rpd_tracer says of its own work. */
static bool is_overhead(const char *name)
{
    static const char *const words[] = { "hcc_activity_callback", "rpdflush", "BLOCKING",
                                         "overhead (hip)", "prepare", "commit" };
    static const char *const ends[] = { "::writeRows", "::buffer_callback" };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (strlen(name) > strlen(ends[i]) &&
            strcmp(name + strlen(name) - strlen(ends[i]), ends[i]) == 0)
            return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return false;
}

static bool counts_work_items(const char *name)
{
    return strcmp(name, "hipExtModuleLaunchKernel") == 0 ||
           strcmp(name, "hipHccModuleLaunchKernel") == 0;
}

static enum varve_code add_call_activity(struct vv_rpd *rpd, int64_t id, uint32_t slice,
                                         struct varve_error *error)
{
    uint32_t activity;
    VV_TRY(vv_model_add_activity(rpd->model, &activity, error));
    rpd->model->slices.activity[slice] = activity;
    rpd->model->activities.kind[activity] = VV_ACTIVITY_CALL;
    if (id != VV_SPAN_ABSENT)
        rpd->model->activities.correlation[activity] = (uint64_t)id;
    return VARVE_OK;
}

/* What kind of row it is, by its name. */
struct kind { const char *category; uint16_t layer; bool is_call, is_range; };

static struct kind kind_of(const char *name)
{
    if (strcmp(name, "UserMarker") == 0)
        return (struct kind){ "roctx", VARVE_LAYER_API, false, true };
    if (is_call(name))
        return (struct kind){ "cuda_runtime", VARVE_LAYER_RUNTIME, true, false };
    if (is_overhead(name))
        return (struct kind){ "overhead", VARVE_LAYER_HOST, false, false };
    return (struct kind){ "rpd", VARVE_LAYER_API, false, false };
}

static enum varve_code add_host_row(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                    const struct kind *kind, struct vv_span *span,
                                    struct varve_error *error)
{
    struct vv_model *model = rpd->model;
    int64_t id = vv_rpd_int(row, VV_RPD_ID);
    uint32_t args = vv_rpd_string(rpd, row, VV_RPD_ARGS), slice;
    uint32_t index = id == VV_SPAN_ABSENT ? VV_KEY_NONE
                                          : vv_key_map_get(&rpd->calls, (uint64_t)id);
    struct vv_rpd_call *call = index == VV_KEY_NONE ? NULL : &rpd->known_calls.items[index];
    struct vv_torch_range range = { .name = span->name };
    if (kind->is_range) {
        uint32_t said = call != NULL && call->said != 0 ? call->said : args;
        VV_TRY(vv_torch_range(model, said != 0 ? said : span->name, &range, error));
        span->name = range.name;
        span->layer = range.is_operator ? VARVE_LAYER_OP : span->layer;
        args = 0;
    }
    if (kind->is_range && span->start_ns == span->end_ns && span->start_ns != VV_SPAN_ABSENT)
        return vv_spans_add_mark(&rpd->spans, span, error);
    bool is_work_items = rpd->counts_work_items ||
                         counts_work_items(vv_intern_text(&model->strings, span->name));
    VV_TRY(vv_spans_add(&rpd->spans, span, &slice, error));
    bool is_first = call != NULL && call->slice == VV_NONE;
    if (is_first) {
        call->slice = slice;
        if (kind->is_call && is_work_items)
            VV_TRY(say_work_items(rpd, call, error));
    }
    if (kind->is_call)
        VV_TRY(add_call_activity(rpd, id, slice, error));
    if (kind->is_range)
        VV_TRY(vv_torch_range_columns(model, slice, &range, error));
    if (is_first)
        VV_TRY(vv_rpd_share_details(rpd, call, slice, error));
    VV_TRY(vv_rpd_say(rpd, slice, "args", args, error));
    VV_TRY(vv_rpd_say(rpd, slice, "domain", vv_rpd_string(rpd, row, VV_RPD_DOMAIN), error));
    VV_TRY(vv_rpd_say(rpd, slice, "category", vv_rpd_string(rpd, row, VV_RPD_CATEGORY), error));
    return vv_rpd_arguments(rpd, row, slice, error);
}

static enum varve_code take_call(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                 struct varve_error *error)
{
    int64_t pid = vv_rpd_int(row, VV_RPD_PID), tid = vv_rpd_int(row, VV_RPD_TID);
    int64_t id = vv_rpd_int(row, VV_RPD_ID);
    struct vv_span span = { .start_ns = vv_rpd_int(row, VV_RPD_START),
                            .end_ns = vv_rpd_int(row, VV_RPD_END),
                            .name = vv_rpd_string(rpd, row, VV_RPD_API_NAME) };
    struct kind kind = kind_of(vv_intern_text(&rpd->model->strings, span.name));
    span.layer = kind.layer;
    VV_TRY(vv_model_text(rpd->model, kind.category, &span.category, error));
    pid = pid == VV_SPAN_ABSENT ? 0 : pid;
    VV_TRY(vv_rpd_thread(rpd, pid, tid == VV_SPAN_ABSENT ? pid : tid, &span.track, error));
    if (id != VV_SPAN_ABSENT)
        VV_TRY(vv_rpd_note_session(rpd, id, rpd->model->tracks.process[span.track], error));
    return add_host_row(rpd, row, &kind, &span, error);
}

/* The runtime below HIP, in files of old. Its ids are others than those of the calls of HIP. */
static enum varve_code take_inner_call(struct vv_rpd *rpd, const struct vv_rpd_row *row,
                                       struct varve_error *error)
{
    int64_t pid = vv_rpd_int(row, VV_RPD_PID), tid = vv_rpd_int(row, VV_RPD_TID);
    struct vv_span span = { .start_ns = vv_rpd_int(row, VV_RPD_START),
                            .end_ns = vv_rpd_int(row, VV_RPD_END),
                            .name = vv_rpd_string(rpd, row, VV_RPD_API_NAME),
                            .layer = VARVE_LAYER_RUNTIME_L1 };
    uint32_t slice;
    VV_TRY(vv_model_text(rpd->model, "hsa_api", &span.category, error));
    pid = pid == VV_SPAN_ABSENT ? 0 : pid;
    VV_TRY(vv_rpd_thread(rpd, pid, tid == VV_SPAN_ABSENT ? pid : tid, &span.track, error));
    VV_TRY(vv_spans_add(&rpd->spans, &span, &slice, error));
    VV_TRY(add_call_activity(rpd, VV_SPAN_ABSENT, slice, error));
    VV_TRY(vv_rpd_say(rpd, slice, "args", vv_rpd_string(rpd, row, VV_RPD_ARGS), error));
    return vv_rpd_arguments(rpd, row, slice, error);
}

enum varve_code vv_rpd_read_calls(struct vv_rpd *rpd, struct varve_error *error)
{
    VV_TRY(vv_rpd_each(rpd, "rocpd_api", take_call, error));
    return vv_rpd_each(rpd, "rocpd_hsaApi", take_inner_call, error);
}

#endif
