/* SPDX-License-Identifier: Apache-2.0 */
/* take.c — finds the executions of XLA's instructions: device work with the statistic hlo_op, and
 * work of TPUs, whose name is the instruction's text. XLA's asynchronous line counts each transfer
 * a second time and is left out, as XLA's own converter does. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "export/pgle/pgle.h"
#include "mlir/hlo/hlo.h"
#include "model/arg_walk.h"
#include "model/find.h"

/* Ids of the keys in the model; UINT32_MAX = not there. */
struct words {
    uint32_t instruction, program, program_id, range, long_name;
};

/* What the arguments of a slice say of its instruction. */
struct instruction {
    const char *name, *program, *text; /* NULL = not said                                       */
    int64_t program_id, range;         /* -1, 0 = not said                                      */
};

static uint32_t word(const struct vv_model *model, const char *text)
{
    return vv_intern_find(&model->strings, text, strlen(text));
}

static const char *text_of(const struct vv_model *model, uint32_t arg)
{
    return model->args.kind[arg] == VV_ARG_TEXT
               ? vv_intern_text(&model->strings, (uint32_t)model->args.value[arg])
               : NULL;
}

static int64_t number_of(const struct vv_model *model, uint32_t arg, int64_t otherwise)
{
    if (model->args.kind[arg] == VV_ARG_INT)
        return (int64_t)model->args.value[arg];
    const char *text = text_of(model, arg);
    char *end;
    if (text == NULL || *text < '0' || *text > '9')
        return otherwise;
    unsigned long long number = strtoull(text, &end, 10);
    return *end == '\0' ? (int64_t)number : otherwise;
}

static struct instruction read_arguments(const struct vv_model *model, const struct words *words,
                                         uint32_t slice)
{
    struct instruction found = { .program_id = -1 };
    struct vv_arg_walk walk = vv_arg_walk(model, model->slices.first_arg[slice],
                                          model->slices.arg_count[slice]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);) {
        uint32_t key = model->args.key[arg];
        if (key == words->instruction)
            found.name = text_of(model, arg);
        else if (key == words->program)
            found.program = text_of(model, arg);
        else if (key == words->program_id)
            found.program_id = number_of(model, arg, -1);
        else if (key == words->range)
            found.range = number_of(model, arg, 0);
        else if (key == words->long_name)
            found.text = text_of(model, arg);
    }
    return found;
}

/* "%fusion.3 = f32[8]{0} fusion(…)": the length of the name, which begins at text + 1; or 0. */
static size_t name_in_text(const char *text)
{
    const char *equals = text != NULL && *text == '%' ? strstr(text, " = ") : NULL;
    return equals == NULL ? 0 : (size_t)(equals - text) - 1;
}

/* The length of a name without ".remat", ".remat2" … at its end: a clone is averaged with what it
 * is a clone of. */
static size_t without_clones(const char *name, size_t length)
{
    for (;;) {
        size_t end = length;
        while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
            end--;
        if (end <= 6 || memcmp(name + end - 6, ".remat", 6) != 0)
            return length;
        length = end - 6;
    }
}

static enum varve_code add_name(struct vv_pgle *pgle, const char *fingerprint, const char *name,
                                size_t length, uint32_t *out_id, struct varve_error *error)
{
    size_t before = strlen(fingerprint);
    if (before == 0)
        return vv_intern_add(&pgle->strings, name, length, out_id, error);
    char *whole = malloc(before + 2 + length);
    if (whole == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of an instruction");
    memcpy(whole, fingerprint, before);
    memcpy(whole + before, "::", 2);
    memcpy(whole + before + 2, name, length);
    enum varve_code code =
        vv_intern_add(&pgle->strings, whole, before + 2 + length, out_id, error);
    free(whole);
    return code;
}

static enum varve_code add_piece(struct vv_pgle *pgle, const struct vv_model *model,
                                 const struct vv_hlo *hlo, uint32_t slice,
                                 const struct instruction *found, struct varve_error *error)
{
    const char *name = found->name != NULL ? found->name : found->text + 1;
    size_t length = found->name != NULL ? strlen(name) : name_in_text(found->text);
    if (*name == '%') {
        name++;
        length--;
    }
    length = without_clones(name, length);
    uint32_t program = found->program == NULL
                           ? VV_HLO_NONE
                           : vv_hlo_program(hlo, found->program, found->program_id);
    const char *fingerprint =
        program == VV_HLO_NONE ? "" : vv_hlo_text(hlo, hlo->programs[program].fingerprint);
    struct vv_pgle_piece piece = {
        .begin_ns = model->slices.begin_ns[slice],
        .end_ns = model->slices.begin_ns[slice] + model->slices.duration_ns[slice],
        .execution = found->range,
        .process = model->tracks.process[model->slices.track[slice]],
    };
    VV_TRY(add_name(pgle, fingerprint, name, length, &piece.name, error));
    if (found->program != NULL)
        VV_TRY(vv_intern_add(&pgle->strings, found->program, strlen(found->program),
                             &piece.program, error));
    VV_TRY(vv_array_reserve(&pgle->pieces, &pgle->capacity, pgle->count + 1, sizeof piece, error));
    pgle->pieces[pgle->count++] = piece;
    return VARVE_OK;
}

static bool is_work(const struct vv_model *model, uint32_t slice)
{
    uint32_t activity = model->slices.activity[slice], track = model->slices.track[slice];
    return model->tracks.kind[track] == VV_TRACK_DEVICE && activity != VV_NONE &&
           vv_is_device_work(model, activity);
}

static enum varve_code take_slices(struct vv_pgle *pgle, const struct vv_model *model,
                                   const struct vv_hlo *hlo, struct varve_error *error)
{
    struct words words = { word(model, "hlo_op"), word(model, "hlo_module"),
                           word(model, "program_id"), word(model, "scope_range_id"),
                           word(model, "long_name") };
    for (uint32_t slice = 0; slice < model->slices.table.count; slice++) {
        if (model->slices.arg_count[slice] == 0)
            continue;
        bool is_device = model->tracks.kind[model->slices.track[slice]] == VV_TRACK_DEVICE;
        bool counts = is_work(model, slice);
        if (is_device && !counts)
            continue;
        struct instruction found = read_arguments(model, &words, slice);
        if (!is_device)
            pgle->on_host += found.name != NULL && model->slices.activity[slice] == VV_NONE;
        else if (found.name != NULL || name_in_text(found.text) > 0)
            VV_TRY(add_piece(pgle, model, hlo, slice, &found, error));
    }
    return VARVE_OK;
}

static int compare(int64_t left, int64_t right)
{
    return left < right ? -1 : left > right;
}

static int by_name(const void *left, const void *right, void *context)
{
    const struct vv_pgle_piece *a = left, *b = right;
    const struct vv_intern *strings = context;
    int order = a->name == b->name ? 0
                                   : strcmp(vv_intern_text(strings, a->name),
                                            vv_intern_text(strings, b->name));
    if (order == 0)
        order = compare(a->process, b->process);
    if (order == 0)
        order = compare(a->execution, b->execution);
    return order != 0 ? order : compare(a->begin_ns, b->begin_ns);
}

enum varve_code vv_pgle_take(const struct vv_model *model, struct vv_pgle *out_pgle,
                             struct varve_error *error)
{
    struct vv_hlo hlo;
    *out_pgle = (struct vv_pgle){ 0 };
    VV_TRY(vv_intern_init(&out_pgle->strings, error));
    enum varve_code code = vv_hlo_read(model, &hlo, error);
    if (code == VARVE_OK) {
        code = take_slices(out_pgle, model, &hlo, error);
        vv_hlo_deinit(&hlo);
    }
    if (code != VARVE_OK)
        vv_pgle_deinit(out_pgle);
    else if (out_pgle->count > 0)
        qsort_r(out_pgle->pieces, out_pgle->count, sizeof *out_pgle->pieces, by_name,
                &out_pgle->strings);
    return code;
}

void vv_pgle_deinit(struct vv_pgle *pgle)
{
    free(pgle->pieces);
    vv_intern_deinit(&pgle->strings);
    *pgle = (struct vv_pgle){ 0 };
}
