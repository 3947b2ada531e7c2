/* SPDX-License-Identifier: Apache-2.0 */
/* build.c — vv_model_finish: from added rows to the laws that model.h states.
 *
 * Slices are sorted in two steps: first by track, with a counting sort, then within each track.
 * Most producers write in order of time, so a track is mostly a few sorted runs. So the merge sort
 * first tests whether two halves overlap, and then merges only the part that overlaps. */
#include "model/build/build.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/binary_search.h"
#include "base/large_pages.h"
#include "base/workers.h"
#include "model/cells.h"
#include "model/columns.h"
#include "model/outward.h"
#include "model/steps/infer.h"

#define INSERTION_ROWS 12u

/* A column whose bytes are all equal is the same in any order. */
static bool is_uniform(const void *cells, size_t bytes)
{
    const unsigned char *byte = cells;
    return bytes == 0 || memcmp(byte, byte + 1, bytes - 1) == 0;
}

struct ordering {
    const int64_t *begin_ns, *duration_ns;
    const uint32_t *order;
    uint32_t *rows, *spare; /* as many items as there are slices                                */
    uint64_t *ends;         /* where each track's rows end                                      */
    uint32_t *of_file;      /* to be filled: slices.order, if no importer has set it; or NULL   */
};

static inline bool goes_before(const struct ordering *ordering, uint32_t a, uint32_t b)
{
    if (ordering->begin_ns[a] != ordering->begin_ns[b])
        return ordering->begin_ns[a] < ordering->begin_ns[b];
    if (ordering->duration_ns[a] != ordering->duration_ns[b])
        return ordering->duration_ns[a] > ordering->duration_ns[b];
    return ordering->order[a] < ordering->order[b];
}

/* ---- one track ---- */

static void insert_rows(const struct ordering *ordering, uint32_t *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        uint32_t row = rows[i];
        size_t at = i;
        for (; at > 0 && goes_before(ordering, row, rows[at - 1]); at--)
            rows[at] = rows[at - 1];
        rows[at] = row;
    }
}

/* How many of rows[0..count) stay in place: `row` goes before none of them. */
static size_t count_settled(const struct ordering *ordering, const uint32_t *rows, size_t count,
                            uint32_t row)
{
    return VV_FIRST_NOT(i, 0, count, !goes_before(ordering, row, rows[i]));
}

/* Merges rows[0..middle) and rows[middle..count). */
static void merge_rows(const struct ordering *ordering, uint32_t *rows, size_t middle, size_t count)
{
    uint32_t *spare = ordering->spare + (rows - ordering->rows);
    size_t settled = count_settled(ordering, rows, middle, rows[middle]);
    rows += settled;
    middle -= settled;
    count -= settled;
    /* The rows after this one stay where they are. */
    count = VV_FIRST_NOT(i, middle, count, goes_before(ordering, rows[i], rows[middle - 1]));
    memcpy(spare, rows, middle * sizeof *rows);
    size_t left = 0, right = middle, out = 0;
    while (left < middle && right < count)
        rows[out++] =
            goes_before(ordering, rows[right], spare[left]) ? rows[right++] : spare[left++];
    memcpy(rows + out, spare + left, (middle - left) * sizeof *rows);
}

static void sort_rows(const struct ordering *ordering, uint32_t *rows, size_t count)
{
    if (count <= INSERTION_ROWS) {
        insert_rows(ordering, rows, count);
        return;
    }
    size_t middle = count / 2;
    sort_rows(ordering, rows, middle);
    sort_rows(ordering, rows + middle, count - middle);
    if (goes_before(ordering, rows[middle], rows[middle - 1]))
        merge_rows(ordering, rows, middle, count);
}

/* ---- all of them ---- */

/* Slices that an importer has placed are in order; only their neighbours are compared. */
static bool is_sorted(const struct ordering *ordering, const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    size_t p = 0;
    for (uint32_t i = 1; i < slices->table.count; i++) {
        while (p < model->placed_count && model->placed[p].limit <= i)
            p++;
        if (p < model->placed_count && model->placed[p].first < i)
            i = model->placed[p].limit;
        if (i < slices->table.count &&
            (slices->track[i] < slices->track[i - 1] ||
             (slices->track[i] == slices->track[i - 1] && goes_before(ordering, i, i - 1))))
            return false;
    }
    return true;
}

/* Does each placed run of slices still have a track of its own? Tracks may have been joined after
 * the run was placed. */
static bool are_apart(const struct vv_model *model)
{
    const uint32_t *track = model->slices.track;
    for (size_t i = 0; i < model->placed_count; i++) {
        uint32_t first = model->placed[i].first, limit = model->placed[i].limit;
        if ((first > 0 && track[first - 1] == track[first]) ||
            (limit < model->slices.table.count && track[limit] == track[limit - 1]))
            return false;
    }
    return true;
}

/* Where the rows of each track begin, and as the last item where all rows end. Slices without a
 * track come last. */
static uint64_t *count_by_track(const struct vv_model *model)
{
    uint64_t tracks = model->tracks.table.count, sum = 0;
    uint64_t *places = calloc(tracks + 2, sizeof *places);
    if (places == NULL)
        return NULL;
    for (uint64_t i = 0; i < model->slices.table.count; i++)
        places[model->slices.track[i] < tracks ? model->slices.track[i] : tracks]++;
    for (uint64_t i = 0; i <= tracks + 1; i++) {
        uint64_t own = places[i];
        places[i] = sum;
        sum += own;
    }
    return places;
}

/* Keeps the order of the file, which is that of the rows, if it is not that of time. */
static void keep_order(const struct ordering *ordering, const uint32_t *rows, size_t count)
{
    size_t i = 1;
    while (i < count && rows[i - 1] < rows[i])
        i++;
    for (size_t k = 0; i < count && k < count; k++)
        ordering->of_file[rows[k]] = rows[k];
}

static void sort_track(void *context, size_t track)
{
    const struct ordering *ordering = context;
    uint64_t first = track == 0 ? 0 : ordering->ends[track - 1];
    sort_rows(ordering, ordering->rows + first, ordering->ends[track] - first);
    if (ordering->of_file != NULL)
        keep_order(ordering, ordering->rows + first, ordering->ends[track] - first);
}

/* On return, `ends` holds ends; it comes with the beginnings. */
static void sort_by_track(const struct vv_model *model, struct ordering *ordering)
{
    const struct vv_slices *slices = &model->slices;
    uint64_t tracks = model->tracks.table.count;
    for (uint32_t i = 0; i < slices->table.count; i++)
        ordering->rows[ordering->ends[slices->track[i] < tracks ? slices->track[i] : tracks]++] = i;
    vv_workers_run(model->threads, tracks + 1, sort_track, ordering);
}

/* ---- moving the rows ---- */

/* Finish fills these columns later. Until then all their rows are equal. */
static bool is_filled_later(const struct vv_column *column)
{
    static const size_t filled[] = { offsetof(struct vv_slices, self_ns),
                                     offsetof(struct vv_slices, parent),
                                     offsetof(struct vv_slices, depth),
                                     offsetof(struct vv_slices, step),
                                     offsetof(struct vv_slices, phase) };
    for (size_t i = 0; i < sizeof filled / sizeof filled[0]; i++)
        if (column->pointer_offset == filled[i])
            return true;
    return false;
}

#define GATHER(type)                     \
    for (uint64_t i = 0; i < count; i++) \
    ((type *)to)[i] = ((const type *)from)[rows[i]]

static void gather(const void *from, void *to, size_t width_bytes, const uint32_t *rows,
                   uint64_t count)
{
    switch (width_bytes) {
    case 1:
        GATHER(uint8_t);
        break;
    case 2:
        GATHER(uint16_t);
        break;
    case 4:
        GATHER(uint32_t);
        break;
    default:
        GATHER(uint64_t);
        break;
    }
}

#define WIDTH_BYTES_MAX 8u
/* A smaller spare would save little. Without spares, small models always allocate the same amount,
   whichever thread comes first. */
#define SPARE_BYTES_MIN ((size_t)1 << 20)

struct moving {
    struct vv_slices *slices;
    const uint32_t *rows;
    /* One place for each width: the cells of a column that has moved, for the next column; or
       NULL. */
    _Atomic(void *) spares[WIDTH_BYTES_MAX + 1];
    bool has_failed[VV_TABLE_COLUMNS_MAX];
};

/* All `count` cells are written here. So any zeroed cells will do as the target (cells.h), also
 * those that another column of zeros has left: they are zero after the last row, too. */
static void move_column(void *context, size_t number)
{
    struct moving *moving = context;
    const struct vv_column *column = &vv_model_tables[VV_TABLE_SLICES].columns[number];
    size_t bytes = moving->slices->table.count * column->width_bytes;
    size_t room = moving->slices->table.capacity * column->width_bytes;
    void *from, *to;
    memcpy(&from, (char *)moving->slices + column->pointer_offset, sizeof from);
    if (is_filled_later(column) || is_uniform(from, bytes))
        return;
    to =
        room < SPARE_BYTES_MIN ? NULL : atomic_exchange(&moving->spares[column->width_bytes], NULL);
    if (to == NULL)
        to = vv_cells_grow(NULL, room, 0);
    moving->has_failed[number] = to == NULL;
    if (to == NULL)
        return;
    gather(from, to, column->width_bytes, moving->rows, moving->slices->table.count);
    if (column->blank != 0)
        memset((char *)to + bytes, column->blank, room - bytes);
    memcpy((char *)moving->slices + column->pointer_offset, &to, sizeof to);
    if (column->blank == 0 && room >= SPARE_BYTES_MIN)
        from = atomic_exchange(&moving->spares[column->width_bytes], from);
    vv_cells_free(from);
}

static enum varve_code move_rows(struct vv_model *model, const uint32_t *rows,
                                 struct varve_error *error)
{
    struct moving moving = { .slices = &model->slices, .rows = rows };
    size_t columns = vv_model_tables[VV_TABLE_SLICES].column_count;
    vv_workers_run(model->threads, columns, move_column, &moving);
    for (unsigned width = 0; width <= WIDTH_BYTES_MAX; width++)
        vv_cells_free(moving.spares[width]);
    for (size_t i = 0; i < columns; i++)
        if (moving.has_failed[i])
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to sort %llu slices",
                    (unsigned long long)model->slices.table.count);
    return VARVE_OK;
}

enum varve_code vv_build_order(struct vv_model *model, struct varve_error *error)
{
    struct vv_slices *slices = &model->slices;
    uint64_t count = slices->table.count;
    struct ordering ordering = { .begin_ns = slices->begin_ns, .duration_ns = slices->duration_ns,
                                 .order = slices->order };
    bool sorted = is_sorted(&ordering, model);
    if (!sorted || !are_apart(model))
        model->placed_count = 0;
    if (sorted)
        return VARVE_OK;
    enum varve_code code = VARVE_OK;
    ordering.rows = vv_large_pages_alloc(count * sizeof *ordering.rows);
    ordering.spare = vv_large_pages_alloc(count * sizeof *ordering.spare);
    ordering.ends = count_by_track(model);
    if (slices->order[0] == 0 && is_uniform(slices->order, count * sizeof *slices->order))
        ordering.of_file = slices->order;
    if (ordering.rows == NULL || ordering.spare == NULL || ordering.ends == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to sort %llu slices",
                       (unsigned long long)count);
    else
        sort_by_track(model, &ordering);
    free(ordering.ends);
    free(ordering.spare);
    if (code == VARVE_OK)
        code = move_rows(model, ordering.rows, error);
    free(ordering.rows);
    return code;
}

/* Adds the durations of all slices, and twice the time between the first and the last record of
 * each process, and once that of each track. *out_longest is the row of the longest slice. */
static double add_all_times(const struct vv_model *model, uint64_t *out_longest)
{
    const struct vv_slices *slices = &model->slices;
    const struct vv_processes *processes = &model->processes;
    int64_t begin_ns = 0, end_ns = 0;
    double sum_ns = 0;
    *out_longest = 0;
    for (uint64_t p = 0; p < processes->table.count; p++)
        sum_ns += 2 * ((double)processes->end_ns[p] - (double)processes->begin_ns[p]);
    for (uint64_t row = 0; row < slices->table.count; row++) {
        int64_t slice_end_ns = slices->begin_ns[row] + slices->duration_ns[row];
        if (row == 0 || slices->track[row] != slices->track[row - 1]) {
            sum_ns += (double)end_ns - (double)begin_ns;
            begin_ns = end_ns = slices->begin_ns[row];
        }
        end_ns = slice_end_ns > end_ns ? slice_end_ns : end_ns;
        sum_ns += (double)slices->duration_ns[row];
        if (slices->duration_ns[row] > slices->duration_ns[*out_longest])
            *out_longest = row;
    }
    return sum_ns + (double)end_ns - (double)begin_ns;
}

/* Analyses add times up in an int64, so the sum of all times must fit. */
static enum varve_code check_sums(const struct vv_model *model, struct varve_error *error)
{
    const double most_ns = 9e18, year_ns = 365.25 * 86400e9;
    double span_ns = (double)model->run.end_ns - (double)model->run.begin_ns;
    uint64_t things = model->slices.table.count + model->tracks.table.count +
                      2 * model->processes.table.count,
             longest;
    if (span_ns * (double)things < most_ns || model->slices.table.count == 0)
        return VARVE_OK;
    double sum_ns = add_all_times(model, &longest);
    if (sum_ns < most_ns)
        return VARVE_OK;
    double longest_ns = (double)model->slices.duration_ns[longest];
    if (longest_ns < span_ns / 2)
        VV_FAIL(error, VARVE_CORRUPT,
                "times that add up to %.0f years, more than can be counted in nanoseconds: the "
                "first record and the last are %.1f years apart, so clocks or units were mixed",
                sum_ns / year_ns, span_ns / year_ns);
    VV_FAIL(
        error, VARVE_CORRUPT,
        "times that add up to %.0f years, more than can be counted in nanoseconds: '%.60s' alone "
        "lasts %.1f years",
        sum_ns / year_ns, vv_intern_text(&model->strings, model->slices.name[longest]),
        longest_ns / year_ns);
}

static uint64_t count_levels(const struct vv_slices *slices)
{
    uint32_t most = 0;
    for (uint64_t row = 0; row < slices->table.count; row++)
        most = slices->depth[row] > most ? slices->depth[row] : most;
    return slices->table.count > 0 ? (uint64_t)most + 1 : 0;
}

/* Counts texts, each once. A reader cannot count them: it may read a text twice, or in parts. */
static uint64_t count_repaired(const struct vv_intern *strings)
{
    uint64_t count = 0;
    for (uint32_t id = 0; id < strings->count; id++)
        count += memmem(strings->strings[id], strings->lengths[id], "\xef\xbf\xbd", 3) != NULL;
    return count;
}

enum varve_code vv_model_finish(struct vv_model *model, struct varve_error *error)
{
    model->health.repaired_texts = count_repaired(&model->strings);
    VV_TRY(vv_build_thread_names(model, error));
    VV_TRY(vv_build_order(model, error));
    VV_TRY(check_sums(model, error));
    VV_TRY(vv_build_named_steps(model, error));
    VV_TRY(vv_build_nest(model, error));
    model->placed_count = 0;
    model->run.levels = count_levels(&model->slices);
    VV_TRY(vv_build_outward(model, error));
    VV_TRY(vv_build_flows(model, error));
    VV_TRY(vv_build_activities(model, error));
    VV_TRY(vv_build_anchored_steps(model, error));
    VV_TRY(vv_build_repeated_steps(model, error));
    return vv_build_steps(model, error);
}
