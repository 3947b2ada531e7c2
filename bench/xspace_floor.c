/* SPDX-License-Identifier: Apache-2.0 */
#include "xspace_floor.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text/protobuf.h"
#include "import/importer.h"
#include "import/xspace/fields.h"
#include "model/columns.h"

#define PAGE_BYTES ((uint64_t)2 << 20) /* as large columns have them: model/cells.h             */
#define COLUMNS_MAX 256u
#define SHOWN_BYTES 0.005              /* of all columns: what the table shows                  */

/* ---- every number of the file ---- */

/* The sum of all numbers of a line, so that the compiler leaves none out. Events and statistics are
 * both fields 4 with bytes, and no other field of the three messages is: their content is walked
 * as if it were the line's own, and no length is kept. */
static uint64_t walk_line(const unsigned char *at, const unsigned char *limit)
{
    uint64_t sum = 0, value;
    while (at < limit) {
        unsigned tag = *at++;
        if ((tag & 7) == VV_WIRE_FIXED64 && limit - at >= 8) {
            at += 8;
            continue;
        }
        if ((tag & 5) != 0 || !vv_protobuf_varint(&at, limit, &value))
            break;
        sum += value;
        if ((tag & 7) == VV_WIRE_BYTES && tag >> 3 != VV_XLINE_EVENTS) {
            if (value > (uint64_t)(limit - at))
                break;
            at += value;
        }
    }
    return sum;
}

/* ---- each event a row, with its place ---- */

#define DEPTH_MAX 256u
#define ROWS 64u /* they stay in the first cache */
#define NAMES 65536u

/* What any reader must know of an event that has a row: its name, its begin and end, the event
 * around it, its depth, and how much of it is its own; of a statistic, its key and its value. */
static struct nesting {
    struct { uint64_t row; int64_t end_ps, inside_ps; } open[DEPTH_MAX];
    struct { int64_t begin_ps, duration_ps, own_ps; uint64_t parent, name, depth; } rows[ROWS];
    struct { uint64_t key, value, kind; } arguments[ROWS];
    uint32_t names[NAMES]; /* of metadata, by its id */
    uint64_t depth, row_count, argument_count;
} nesting;

static void close_until(int64_t begin_ps)
{
    while (nesting.depth > 0 && nesting.open[nesting.depth].end_ps <= begin_ps) {
        uint64_t depth = nesting.depth--, row = nesting.open[depth].row % ROWS;
        int64_t duration_ps = nesting.rows[row].duration_ps;
        nesting.rows[row].own_ps = duration_ps - nesting.open[depth].inside_ps;
        nesting.open[depth - 1].inside_ps += duration_ps;
    }
}

static void nest_event(uint64_t metadata, int64_t begin_ps, int64_t duration_ps)
{
    uint64_t number = nesting.row_count++, row = number % ROWS;
    close_until(begin_ps);
    nesting.rows[row].parent = nesting.open[nesting.depth].row;
    nesting.depth += nesting.depth < DEPTH_MAX - 1;
    nesting.open[nesting.depth].row = number;
    nesting.open[nesting.depth].end_ps = begin_ps + duration_ps;
    nesting.open[nesting.depth].inside_ps = 0;
    nesting.rows[row].begin_ps = begin_ps;
    nesting.rows[row].duration_ps = duration_ps;
    nesting.rows[row].depth = nesting.depth;
    nesting.rows[row].name = nesting.names[metadata % NAMES];
}

/* The first number is the metadata's id, another the value. */
static void take_statistic(const unsigned char *at, const unsigned char *limit)
{
    uint64_t number, row = nesting.argument_count++ % ROWS;
    while (at < limit) {
        unsigned tag = *at++;
        if ((tag & 7) == VV_WIRE_FIXED64 && limit - at >= 8) {
            memcpy(&number, at, sizeof number);
            at += 8;
        } else if (!vv_protobuf_varint(&at, limit, &number)) {
            return;
        }
        if ((tag & 7) == VV_WIRE_BYTES)
            at += number < (uint64_t)(limit - at) ? number : (uint64_t)(limit - at);
        if (tag >> 3 == VV_XSTAT_METADATA_ID) {
            nesting.arguments[row].key = nesting.names[number % NAMES];
            continue;
        }
        nesting.arguments[row].kind = tag >> 3;
        nesting.arguments[row].value = number;
    }
}

static void take_event(const unsigned char *at, const unsigned char *limit)
{
    uint64_t numbers[8] = { 0 }, number;
    while (at < limit) {
        unsigned tag = *at++;
        if (!vv_protobuf_varint(&at, limit, &number))
            return;
        if ((tag & 7) == VV_WIRE_BYTES) {
            number = number < (uint64_t)(limit - at) ? number : (uint64_t)(limit - at);
            take_statistic(at, at + number);
            at += number;
        }
        numbers[tag >> 3 & 7] = number;
    }
    nest_event(numbers[VV_XEVENT_METADATA_ID], (int64_t)numbers[VV_XEVENT_OFFSET_PS],
               (int64_t)numbers[VV_XEVENT_DURATION_PS]);
}

static uint64_t nest_line(const unsigned char *at, const unsigned char *limit)
{
    uint64_t number;
    close_until(INT64_MAX);
    while (at < limit) {
        unsigned tag = *at++;
        if (!vv_protobuf_varint(&at, limit, &number))
            break;
        if ((tag & 7) != VV_WIRE_BYTES)
            continue;
        number = number < (uint64_t)(limit - at) ? number : (uint64_t)(limit - at);
        if (tag >> 3 == VV_XLINE_EVENTS)
            take_event(at, at + number);
        at += number;
    }
    return nesting.row_count;
}

/* ---- both ---- */

typedef uint64_t read_line(const unsigned char *at, const unsigned char *limit);

static uint64_t walk_plane(const struct vv_protobuf *space, read_line *read)
{
    struct vv_protobuf plane;
    uint64_t sum = 0;
    vv_protobuf_enter(space, &plane);
    while (vv_protobuf_next(&plane))
        if (plane.number == VV_XPLANE_LINES && plane.wire == VV_WIRE_BYTES)
            sum += read(plane.data, plane.data + plane.value);
    return sum;
}

static int walk_file(const char *path, read_line *read)
{
    struct stat status;
    struct vv_protobuf space;
    uint64_t sum = 0;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status) != 0)
        return 1;
    size_t bytes = (size_t)status.st_size;
    void *data = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, file, 0);
    if (data == MAP_FAILED)
        return 1;
    vv_protobuf_init(&space, data, bytes, 0);
    while (vv_protobuf_next(&space))
        if (space.number == VV_XSPACE_PLANES && space.wire == VV_WIRE_BYTES)
            sum += walk_plane(&space, read);
    return sum == 0;
}

int bench_floor_walk(const char *path)
{
    return walk_file(path, walk_line);
}

int bench_floor_nest(const char *path)
{
    return walk_file(path, nest_line);
}

/* ---- the columns ---- */

struct column {
    char table[24], name[24];
    uint64_t rows, width_bytes, bytes, least_bytes;
};

/* Shared with the process that reads. */
static struct columns {
    struct column items[COLUMNS_MAX];
    uint32_t count;
} *columns;

static uint64_t cell_of(const char *cells, uint64_t row, uint64_t width_bytes)
{
    uint64_t cell = 0; /* the low bytes come first on all machines of this bench                */
    memcpy(&cell, cells + row * width_bytes, width_bytes);
    return cell;
}

/* Counts whole pages that hold something else than blank cells; and the bytes of cells that are
 * just as wide as the difference between the largest and the least value. */
static void measure_column(const char *cells, unsigned char blank, struct column *column)
{
    uint64_t all = column->rows * column->width_bytes, least = UINT64_MAX, largest = 0;
    for (uint64_t at = 0; at < all; at += PAGE_BYTES) {
        uint64_t size = all - at < PAGE_BYTES ? all - at : PAGE_BYTES;
        const unsigned char *page = (const unsigned char *)cells + at;
        column->bytes += page[0] == blank && memcmp(page, page + 1, size - 1) == 0 ? 0 : size;
    }
    if (column->bytes == 0)
        return;
    uint64_t none = UINT64_MAX >> (64 - 8 * column->width_bytes);
    for (uint64_t row = 0; row < column->rows; row++) {
        uint64_t cell = cell_of(cells, row, column->width_bytes);
        if (cell == 0 || cell == none)
            continue;
        least = cell < least ? cell : least;
        largest = cell > largest ? cell : largest;
    }
    uint64_t span = least > largest ? 1 : largest - least + 2; /* two more: 0 and "none"         */
    unsigned bits = 64 - (unsigned)__builtin_clzll(span | 1);
    column->least_bytes = (column->rows * bits + 7) / 8;
}

static int read_columns(const char *path)
{
    const struct vv_import_options options = { .threads = 1 };
    struct vv_model *model;
    if (vv_import_all(&path, 1, &options, &model, NULL) != VARVE_OK)
        return 1;
    for (int row = 0; row < VV_TABLE_COUNT; row++) {
        const struct vv_model_table *table = &vv_model_tables[row];
        const char *place = (const char *)model + table->table_offset;
        for (size_t i = 0; i < table->column_count && columns->count < COLUMNS_MAX; i++) {
            struct column *column = &columns->items[columns->count];
            const char *cells;
            *column = (struct column){ .rows = ((const struct vv_table *)place)->count,
                                       .width_bytes = table->columns[i].width_bytes };
            snprintf(column->table, sizeof column->table, "%s", table->name);
            snprintf(column->name, sizeof column->name, "%s", table->columns[i].name);
            memcpy(&cells, place + table->columns[i].pointer_offset, sizeof cells);
            if (column->rows > 0)
                measure_column(cells, table->columns[i].blank, column);
            columns->count += column->bytes > 0;
        }
    }
    return 0;
}

static void print_columns(double file_bytes)
{
    struct column all = { 0 };
    for (uint32_t i = 0; i < columns->count; i++) {
        all.bytes += columns->items[i].bytes;
        all.least_bytes += columns->items[i].least_bytes;
    }
    printf("%-28s %12s %9s %9s %9s\n", "columns", "rows", "bytes", "of file", "least");
    for (uint32_t i = 0; i < columns->count; i++) {
        const struct column *column = &columns->items[i];
        char name[64];
        if ((double)column->bytes < SHOWN_BYTES * (double)all.bytes)
            continue;
        snprintf(name, sizeof name, "%s.%s", column->table, column->name);
        printf("%-28s %12llu %9llu %9.3f %9.3f\n", name, (unsigned long long)column->rows,
               (unsigned long long)column->width_bytes, (double)column->bytes / file_bytes,
               (double)column->least_bytes / file_bytes);
    }
    printf("%-28s %12s %9s %9.3f %9.3f\n", "all columns", "", "", (double)all.bytes / file_bytes,
           (double)all.least_bytes / file_bytes);
}

int bench_floor_columns(const char *path, double file_bytes)
{
    int status = 1;
    if (columns == NULL)
        columns = mmap(NULL, sizeof *columns, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0);
    if (columns == MAP_FAILED)
        return 1;
    columns->count = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(read_columns(path));
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
        return 1;
    print_columns(file_bytes);
    return 0;
}

int bench_floor_write(const char *path)
{
    (void)path;
    for (uint32_t i = 0; columns != NULL && i < columns->count; i++) {
        uint64_t bytes = (columns->items[i].bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
        uint64_t *cells = mmap(NULL, bytes + PAGE_BYTES, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (cells == MAP_FAILED)
            return 1;
        uintptr_t skipped = (uintptr_t)-(uintptr_t)cells % PAGE_BYTES;
        cells = (uint64_t *)(void *)((char *)cells + skipped);
        madvise(cells, bytes, MADV_HUGEPAGE);
        for (uint64_t at = 0; at < columns->items[i].bytes / sizeof *cells; at++)
            *(volatile uint64_t *)&cells[at] = at;
    }
    return 0;
}
