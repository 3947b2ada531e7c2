/* SPDX-License-Identifier: Apache-2.0 */
#include "derive/operators/counted.h"

#include <string.h>

#include "model/arg_walk.h"
#include "sheet/cells.h"

static uint32_t find(const struct vv_counted *counted, uint32_t key)
{
    uint32_t i = 0;
    while (i < counted->count && counted->keys[i] != key)
        i++;
    return i;
}

/* `list` has commas between names. A name that no argument has is left out. */
static void take_names(struct vv_counted *counted, const struct vv_model *model, const char *list)
{
    for (const char *name = list;;) {
        size_t length = strcspn(name, ",");
        uint32_t id = vv_intern_find(&model->strings, name, length);
        bool is_used = id != UINT32_MAX && id != 0;
        if (is_used && find(counted, id) == counted->count && counted->count < VV_COUNTED_MAX)
            counted->keys[counted->count++] = id;
        if (name[length] == '\0')
            return;
        name += length + 1;
    }
}

void vv_counted_init(struct vv_counted *out_counted, const struct vv_scope *scope)
{
    const struct vv_facts *facts = &scope->model->facts;
    out_counted->count = 0;
    for (uint32_t row = 0; row < facts->table.count; row++) {
        uint32_t process = facts->process[row];
        if (facts->kind[row] == VV_ARG_TEXT &&
            strcmp(vv_text_of(scope->model, facts->key[row]), VV_FACT_COUNTERS) == 0 &&
            (process == VV_NONE || scope->processes[process]))
            take_names(out_counted, scope->model,
                       vv_text_of(scope->model, (uint32_t)facts->value[row]));
    }
}

bool vv_counts_of(const struct vv_counted *counted, const struct vv_model *model, uint32_t slice,
                  struct vv_counts *out_counts)
{
    out_counts->known = 0;
    if (counted->count == 0)
        return false;
    struct vv_arg_walk walk =
        vv_arg_walk(model, model->slices.first_arg[slice], model->slices.arg_count[slice]);
    for (uint32_t arg; vv_arg_next(&walk, &arg);) {
        uint32_t i = find(counted, model->args.key[arg]);
        if (i == counted->count || model->args.kind[arg] != VV_ARG_INT)
            continue;
        out_counts->values[i] = (int64_t)model->args.value[arg];
        out_counts->known |= UINT32_C(1) << i;
    }
    return out_counts->known != 0;
}

/* Sums of counts of a file may pass 64 bits: they wrap. */
void vv_counts_add(struct vv_counts *sum, const struct vv_counts *counts, bool is_less)
{
    for (uint32_t i = 0; i < VV_COUNTED_MAX; i++) {
        if ((counts->known >> i & 1) == 0)
            continue;
        uint64_t value = (uint64_t)counts->values[i],
                 former = (sum->known >> i & 1) != 0 ? (uint64_t)sum->values[i] : 0;
        sum->values[i] = (int64_t)(is_less ? former - value : former + value);
    }
    sum->known |= counts->known;
}

enum varve_code vv_counted_columns(const struct vv_counted *counted, const struct vv_model *model,
                                   const struct vv_sheet_column *columns, size_t column_count,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    struct vv_sheet_column *all =
        vv_arena_alloc(&sheet->arena, (column_count + counted->count) * sizeof *all);
    if (all == NULL)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the columns of %u counters",
                counted->count);
    memcpy(all, columns, column_count * sizeof *all);
    for (uint32_t i = 0; i < counted->count; i++) {
        const char *name = vv_text_of(model, counted->keys[i]);
        size_t length = strlen(name);
        bool is_time = length > 3 && strcmp(name + length - 3, "_ns") == 0;
        all[column_count + i] = (struct vv_sheet_column){
            name, name, VV_CELL_INT, is_time ? VV_UNIT_NS : VV_UNIT_COUNT, false, false
        };
    }
    sheet->columns = all;
    sheet->column_count = column_count + counted->count;
    return VARVE_OK;
}

void vv_counted_cells(const struct vv_counted *counted, const struct vv_counts *counts,
                      struct vv_cell *cells)
{
    for (uint32_t i = 0; i < counted->count; i++)
        if ((counts->known >> i & 1) != 0)
            cells[i] = vv_int_cell(counts->values[i]);
}

bool vv_counted_value(const struct vv_counted *counted, const struct vv_model *model,
                      const struct vv_counts *counts, const char *name, int64_t *out_value)
{
    for (uint32_t i = 0; i < counted->count; i++) {
        if (strcmp(vv_text_of(model, counted->keys[i]), name) != 0 ||
            (counts->known >> i & 1) == 0)
            continue;
        *out_value = counts->values[i];
        return true;
    }
    return false;
}

bool vv_counted_cpu_share(const struct vv_counted *counted, const struct vv_model *model,
                          const struct vv_counts *counts, int64_t duration_ns, double *out_share)
{
    int64_t cpu_ns;
    if (duration_ns <= 0 || !vv_counted_value(counted, model, counts, "cpu_ns", &cpu_ns))
        return false;
    *out_share = (double)cpu_ns / (double)duration_ns;
    return true;
}

bool vv_counts_of_step(const struct vv_counted *counted, const struct vv_model *model,
                       uint32_t step, struct vv_counts *out_counts, int64_t *out_counted_ns)
{
    const struct vv_slices *slices = &model->slices;
    const struct vv_steps *steps = &model->steps;
    int64_t until_ns = INT64_MIN, end_ns = steps->begin_ns[step] + steps->duration_ns[step];
    struct vv_counts counts;
    uint32_t first, last;
    *out_counted_ns = steps->duration_ns[step];
    if (steps->slice[step] != VV_NONE)
        return vv_counts_of(counted, model, steps->slice[step], out_counts);
    *out_counts = (struct vv_counts){ .known = 0 };
    *out_counted_ns = 0;
    vv_step_rows(model, step, &first, &last);
    for (uint32_t row = first; row < last; row++) {
        int64_t row_end_ns = slices->begin_ns[row] + slices->duration_ns[row];
        if (slices->begin_ns[row] < until_ns || row_end_ns > end_ns ||
            !vv_counts_of(counted, model, row, &counts))
            continue;
        vv_counts_add(out_counts, &counts, false);
        *out_counted_ns += slices->duration_ns[row];
        until_ns = row_end_ns;
    }
    return out_counts->known != 0;
}
