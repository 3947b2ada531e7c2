/* SPDX-License-Identifier: Apache-2.0 */
/* text.c — prints sheets for people: each is a block, with its name and policy as the heading.
 *
 * A sheet of sentences is printed as paragraphs. A record is printed as lines "name  value", and so
 * is a row that is alone, if a terminal has no room for it; every other sheet is a table. Escape
 * sequences, bars and cutting to the width are for terminals only. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "present/column_format.h"
#include "present/fields.h"
#include "present/forms.h"
#include "present/glyphs.h"
#include "present/short_names.h"

#define HEADING_WIDTH 15
#define INDENT 2
#define CUT_WIDTH_MIN 12
#define TEXT_WIDTH_WANTED 20 /* optional columns give way until texts get this width          */
#define NAME_WIDTH_WANTED 40 /* and names this one                                            */
#define TREE_WIDTH_WANTED 48 /* and trees this one                                            */
#define BAR_WIDTH_MAX 40
#define BAR_WIDTH_MIN 8
#define RECORD_COLUMNS_MIN 3
#define SENTENCE_TITLE 5 /* width of a sentence's title and of what is behind it                */

#define BOLD "\033[1m"
#define DIM "\033[2m"
#define RED "\033[31m"
#define GREEN "\033[32m"
#define RESET "\033[0m"

struct text_column {
    struct vv_face face;
    bool has_names;   /* of operators and kernels                                               */
    char **names;     /* row -> its short name, or NULL; NULL: whole names are shown             */
    size_t width;
    size_t deepest;   /* most blanks before a name, in a tree that does not fit; else 0          */
    size_t bar_width; /* width of the bar after the number; 0 = none                            */
};

struct block {
    FILE *stream;
    const struct vv_presentation *how;
    const struct vv_sheet *sheet;
    struct text_column *columns;
    size_t count, gap;
};

static void style(const struct block *block, const char *sequence)
{
    if (block->how->color)
        fputs(sequence, block->stream);
}

static const char *cell_text(const struct block *block, const struct text_column *column,
                             size_t row, char buffer[VV_NUMBER_BYTES])
{
    if (column->names != NULL && column->names[row] != NULL)
        return column->names[row];
    return vv_face_text(&column->face, vv_sheet_cell(block->sheet, row, column->face.index),
                        buffer);
}

/* ---- widths ---- */

static void measure(struct block *block)
{
    for (size_t i = 0; i < block->count; i++) {
        struct text_column *column = &block->columns[i];
        column->width = vv_glyphs_width(column->face.title);
        for (size_t row = 0; row < block->sheet->row_count; row++) {
            char buffer[VV_NUMBER_BYTES];
            size_t width = vv_glyphs_width(cell_text(block, column, row, buffer));
            if (width > column->width)
                column->width = width;
        }
    }
}

static size_t width_of_line(const struct block *block)
{
    size_t width = INDENT;
    for (size_t i = 0; i < block->count; i++)
        width += (i > 0 ? block->gap : 0) + block->columns[i].width +
                 (block->columns[i].bar_width > 0 ? 2 + block->columns[i].bar_width : 0);
    return width;
}

static struct text_column *widest_text(const struct block *block)
{
    struct text_column *widest = NULL;
    for (size_t i = 0; i < block->count; i++) {
        struct text_column *column = &block->columns[i];
        if (!column->face.right && (widest == NULL || column->width > widest->width))
            widest = column;
    }
    return widest;
}

/* The width that a column gets before others are left out for it: a name, half of the line. */
static size_t wanted_width(const struct block *block, const struct text_column *column)
{
    enum vv_text_form form = column->face.column->in_text;
    size_t half = (size_t)block->how->width / 2;
    if (column->has_names)
        return half > NAME_WIDTH_WANTED ? half : NAME_WIDTH_WANTED;
    return form == VV_TEXT_TREE   ? TREE_WIDTH_WANTED
           : form == VV_TEXT_PATH ? NAME_WIDTH_WANTED
                                  : TEXT_WIDTH_WANTED;
}

/* Width of the line when every text column is cut to its wanted width. */
static size_t width_of_short_line(const struct block *block)
{
    size_t width = width_of_line(block);
    for (size_t i = 0; i < block->count; i++) {
        const struct text_column *column = &block->columns[i];
        size_t wanted = wanted_width(block, column);
        if (!column->face.right && column->width > wanted)
            width -= column->width - wanted;
    }
    return width;
}

/* Removes columns of this form, the last one first, until the text columns have their wanted
 * width. */
static void make_room(struct block *block, enum vv_text_form form, size_t width)
{
    for (size_t i = block->count; i > 0 && width_of_short_line(block) > width; i--) {
        if (block->columns[i - 1].face.column->in_text != form)
            continue;
        vv_short_names_free(block->columns[i - 1].names, block->sheet->row_count);
        memmove(&block->columns[i - 1], &block->columns[i],
                (block->count - i) * sizeof *block->columns);
        block->count--;
    }
}

/* Trees that are too wide are indented less. */
static void note_depth(const struct block *block, struct text_column *column)
{
    for (size_t row = 0; row < block->sheet->row_count; row++) {
        char buffer[VV_NUMBER_BYTES];
        size_t blanks = strspn(cell_text(block, column, row, buffer), " ");
        if (blanks > column->deepest)
            column->deepest = blanks;
    }
}

/* Makes the lines fit the width: first narrower gaps, then fewer columns, then shorter texts, the
 * longest first. Numbers are never cut. */
static void fit(struct block *block)
{
    size_t width = block->how->width > 0 ? (size_t)block->how->width : SIZE_MAX;
    if (!block->how->terminal || width == SIZE_MAX || width_of_line(block) <= width)
        return;
    block->gap = 2;
    if (block->how->fields == NULL) {
        make_room(block, VV_TEXT_IF_MUCH_ROOM, width);
        make_room(block, VV_TEXT_IF_ROOM, width);
    }
    struct text_column *widest = widest_text(block);
    for (size_t i = 0; i < block->count && width_of_line(block) > width; i++)
        if (block->columns[i].face.column->in_text == VV_TEXT_TREE)
            note_depth(block, &block->columns[i]);
    for (size_t line = width_of_line(block);
         line > width && widest != NULL && widest->width > CUT_WIDTH_MIN; line--) {
        widest->width--;
        widest = widest_text(block);
    }
}

static void give_bars_room(struct block *block)
{
    size_t used = width_of_line(block) + 2;
    size_t width = block->how->width > 0 ? (size_t)block->how->width : used + BAR_WIDTH_MAX;
    size_t room = width > used ? width - used : 0;
    for (size_t i = 0; i < block->count && block->how->terminal; i++) {
        const struct vv_sheet_column *column = block->columns[i].face.column;
        if (column->in_text == VV_TEXT_BAR && column->type == VV_CELL_REAL &&
            room >= BAR_WIDTH_MIN) {
            block->columns[i].bar_width = room < BAR_WIDTH_MAX ? room : BAR_WIDTH_MAX;
            return; /* at most one bar in a table */
        }
    }
}

/* ---- lines ---- */

static size_t put_bar(FILE *stream, double share, size_t width)
{
    static const char *const eighths[] = { "", "▏", "▎", "▍", "▌", "▋", "▊", "▉" };
    double clamped = share < 0 || !isfinite(share) ? 0 : share > 1 ? 1 : share;
    size_t cells = (size_t)lround(clamped * (double)width * 8);
    for (size_t i = 0; i < cells / 8; i++)
        fputs("█", stream);
    fputs(eighths[cells % 8], stream);
    return cells / 8 + (cells % 8 > 0);
}

static void put_cell(const struct block *block, size_t row, size_t position)
{
    const struct text_column *column = &block->columns[position];
    const struct vv_cell *cell = vv_sheet_cell(block->sheet, row, column->face.index);
    const struct vv_sheet_column *kind = column->face.column;
    bool is_last = position + 1 == block->count;
    bool is_loss = cell->present && kind->type == VV_CELL_INT && cell->integer > 0 &&
                   strcmp(kind->name, "lost") == 0;
    char buffer[VV_NUMBER_BYTES];
    const char *text = cell_text(block, column, row, buffer);
    size_t width = vv_glyphs_width(text);
    size_t padding = width < column->width ? column->width - width : 0;
    if (column->face.right)
        vv_glyphs_blanks(block->stream, padding);
    if (is_loss)
        style(block, RED);
    if (is_last && kind->in_text == VV_TEXT_WRAPPED)
        vv_glyphs_wrap(block->stream, text, width_of_line(block) - column->width,
                       width_of_line(block));
    else if (column->deepest > 0)
        vv_glyphs_print_level(block->stream, text, column->width, column->deepest);
    else if (kind->in_text == VV_TEXT_PATH)
        vv_glyphs_print_path(block->stream, text, column->width);
    else if (column->has_names)
        vv_glyphs_print_name(block->stream, text, column->width);
    else
        vv_glyphs_print(block->stream, text, column->width);
    if (is_loss)
        style(block, RESET);
    if (!column->face.right && !is_last)
        vv_glyphs_blanks(block->stream, padding);
    if (column->bar_width == 0 || (is_last && block->sheet->kinds[row] == VV_ROW_TOTAL))
        return;
    vv_glyphs_blanks(block->stream, 2);
    size_t bar = block->sheet->kinds[row] == VV_ROW_TOTAL || !cell->present
                     ? 0
                     : put_bar(block->stream, cell->real, column->bar_width);
    if (!is_last)
        vv_glyphs_blanks(block->stream, column->bar_width - bar);
}

static void put_row(const struct block *block, size_t row)
{
    bool is_small = block->sheet->kinds[row] == VV_ROW_REMAINDER;
    if (is_small)
        style(block, DIM);
    vv_glyphs_blanks(block->stream, INDENT);
    for (size_t i = 0; i < block->count; i++) {
        vv_glyphs_blanks(block->stream, i > 0 ? block->gap : 0);
        put_cell(block, row, i);
    }
    if (is_small)
        style(block, RESET);
    putc('\n', block->stream);
}

static void put_titles(const struct block *block)
{
    style(block, DIM);
    vv_glyphs_blanks(block->stream, INDENT);
    for (size_t i = 0; i < block->count; i++) {
        const struct text_column *column = &block->columns[i];
        size_t width = vv_glyphs_width(column->face.title);
        size_t padding = column->width > width ? column->width - width : 0;
        vv_glyphs_blanks(block->stream, i > 0 ? block->gap : 0);
        if (column->face.right)
            vv_glyphs_blanks(block->stream, padding);
        vv_glyphs_print(block->stream, column->face.title, column->width);
        if (i + 1 == block->count)
            break;
        vv_glyphs_blanks(block->stream, column->face.right ? 0 : padding);
        vv_glyphs_blanks(block->stream, column->bar_width > 0 ? 2 + column->bar_width : 0);
    }
    style(block, RESET);
    putc('\n', block->stream);
}

static void put_table(struct block *block)
{
    static const enum vv_row_kind order[] = { VV_ROW_PLAIN, VV_ROW_REMAINDER, VV_ROW_TOTAL };
    measure(block);
    fit(block);
    give_bars_room(block);
    put_titles(block);
    for (size_t kind = 0; kind < sizeof order / sizeof *order; kind++)
        for (size_t row = 0; row < block->sheet->row_count; row++)
            if (block->sheet->kinds[row] == order[kind])
                put_row(block, row);
}

/* Prints a sentence, beginning at column `indent`. */
static void put_sentence(const struct block *block, const char *text, size_t indent)
{
    size_t width = block->how->terminal && block->how->width > 0 ? (size_t)block->how->width : 0;
    if (width < 2 * indent)
        vv_glyphs_print(block->stream, text, SIZE_MAX);
    else
        vv_glyphs_wrap(block->stream, text, indent, width);
}

/* The colour of a value of a record: of losses, and of a verdict that is more than noise. */
static const char *color_of(const struct vv_sheet_column *column, const struct vv_cell *cell)
{
    if (!cell->present)
        return NULL;
    if (column->type == VV_CELL_INT)
        return cell->integer > 0 && strcmp(column->name, "lost") == 0 ? RED : NULL;
    if (column->type != VV_CELL_TEXT || strcmp(column->name, "verdict") != 0)
        return NULL;
    return strncmp(cell->text, "slower", 6) == 0   ? RED
           : strncmp(cell->text, "faster", 6) == 0 ? GREEN
                                                   : NULL;
}

static void put_record(const struct block *block)
{
    size_t widest = 0;
    for (size_t i = 0; i < block->count; i++) {
        size_t width = vv_glyphs_width(block->columns[i].face.column->title);
        widest = width > widest ? width : widest;
    }
    if (widest + INDENT + 2 < HEADING_WIDTH)
        widest = HEADING_WIDTH - INDENT - 2;
    for (size_t i = 0; i < block->count; i++) {
        const struct vv_face *face = &block->columns[i].face;
        const struct vv_cell *cell = vv_sheet_cell(block->sheet, 0, face->index);
        const char *color = color_of(face->column, cell);
        char buffer[VV_NUMBER_BYTES];
        vv_glyphs_blanks(block->stream, INDENT);
        size_t width = vv_glyphs_print(block->stream, face->column->title, SIZE_MAX);
        vv_glyphs_blanks(block->stream, widest - width + 2);
        if (color != NULL)
            style(block, color);
        put_sentence(block, vv_face_text_alone(face, cell, block->how->unit, buffer),
                     INDENT + widest + 2);
        if (color != NULL)
            style(block, RESET);
        putc('\n', block->stream);
    }
}

/* A row of sentences: the first on a line of its own, each of the others behind its title. */
static void put_paragraph(const struct block *block, size_t row)
{
    bool is_first = true;
    for (size_t i = 0; i < block->count; i++) {
        const struct vv_face *face = &block->columns[i].face;
        const struct vv_cell *cell = vv_sheet_cell(block->sheet, row, face->index);
        char buffer[VV_NUMBER_BYTES];
        if (!cell->present)
            continue;
        vv_glyphs_blanks(block->stream, is_first ? INDENT : 2 * INDENT);
        if (!is_first) {
            style(block, DIM);
            size_t width = vv_glyphs_print(block->stream, face->column->title, SIZE_MAX);
            style(block, RESET);
            vv_glyphs_blanks(block->stream, width < SENTENCE_TITLE ? SENTENCE_TITLE - width : 1);
        }
        put_sentence(block, vv_face_text(face, cell, buffer),
                     is_first ? INDENT : 2 * INDENT + SENTENCE_TITLE);
        putc('\n', block->stream);
        is_first = false;
    }
}

/* Are all columns sentences? */
static bool is_prose(const struct block *block)
{
    for (size_t i = 0; i < block->count; i++)
        if (block->columns[i].face.column->in_text != VV_TEXT_SENTENCE)
            return false;
    return block->count > 0;
}

static void put_heading(const struct block *block)
{
    const char *policy = block->sheet->policy;
    style(block, BOLD);
    size_t width = vv_glyphs_print(block->stream, block->sheet->heading, SIZE_MAX);
    style(block, RESET);
    if (policy != NULL) {
        size_t indent = width + 2 < HEADING_WIDTH ? HEADING_WIDTH : width + 2;
        vv_glyphs_blanks(block->stream, indent - width);
        style(block, DIM);
        put_sentence(block, policy, indent);
        style(block, RESET);
    }
    putc('\n', block->stream);
}

/* A row that is alone: has the terminal no room for what must not be left out? */
static bool is_too_wide(struct block *block)
{
    size_t width = INDENT;
    if (block->sheet->row_count != 1 || !block->how->terminal || block->how->width <= 0)
        return false;
    measure(block);
    for (size_t i = 0; i < block->count; i++) {
        enum vv_text_form form = block->columns[i].face.column->in_text;
        bool gives_way = block->how->fields == NULL &&
                         (form == VV_TEXT_IF_ROOM || form == VV_TEXT_IF_MUCH_ROOM);
        width += gives_way || form == VV_TEXT_WRAPPED ? 0 : block->columns[i].width + 2;
    }
    return width > (size_t)block->how->width + 2;
}

static void put_block(struct block *block)
{
    put_heading(block);
    if (block->sheet->row_count == 0)
        return;
    if (is_prose(block))
        for (size_t row = 0; row < block->sheet->row_count; row++)
            put_paragraph(block, row);
    else if (block->count >= RECORD_COLUMNS_MIN &&
             (block->sheet->is_record || is_too_wide(block)))
        put_record(block);
    else
        put_table(block);
}

static void drop_columns(struct block *block)
{
    for (size_t c = 0; block->columns != NULL && c < block->count; c++)
        vv_short_names_free(block->columns[c].names, block->sheet->row_count);
    free(block->columns);
}

/* A tree has the short names of column "name", behind its blanks. */
static enum varve_code make_tree_names(const struct block *block, struct text_column *column,
                                       struct varve_error *error)
{
    size_t tree = column->face.index, plain = vv_sheet_find(block->sheet, "name");
    if (plain == SIZE_MAX)
        return VARVE_OK;
    VV_TRY(vv_short_names_make(block->sheet, plain, &column->names, error));
    for (size_t row = 0; row < block->sheet->row_count; row++) {
        char *name = column->names[row];
        int blanks = (int)strspn(vv_sheet_cell(block->sheet, row, tree)->text, " ");
        if (name == NULL)
            continue;
        if (asprintf(&column->names[row], "%*s%s", blanks, "", name) < 0)
            column->names[row] = NULL;
        free(name);
        if (column->names[row] == NULL)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the names of a tree");
    }
    return VARVE_OK;
}

/* Makes the columns that are shown. Whoever asks for fields gets whole names. */
static enum varve_code make_columns(struct block *block, struct varve_error *error)
{
    struct vv_fields fields;
    enum varve_code code = VARVE_OK;
    bool is_chosen = block->how->fields != NULL && block->how->fields_table != NULL &&
                     strcmp(block->how->fields_table, block->sheet->name) == 0;
    VV_TRY(vv_fields_init(&fields, block->sheet, block->how, error));
    block->columns = calloc(fields.count + 1, sizeof *block->columns);
    if (block->columns == NULL)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory for the columns of table '%s'",
                       block->sheet->name);
    for (; code == VARVE_OK && block->count < fields.count; block->count++) {
        struct text_column *column = &block->columns[block->count];
        vv_face_init(&column->face, block->sheet, fields.columns[block->count], block->how->unit);
        column->has_names = vv_has_names(column->face.column);
        if (column->face.column->in_text == VV_TEXT_TREE && !is_chosen)
            code = make_tree_names(block, column, error);
        else if (column->has_names && !is_chosen)
            code = vv_short_names_make(block->sheet, column->face.index, &column->names, error);
    }
    vv_fields_deinit(&fields);
    return code;
}

enum varve_code vv_present_text(FILE *stream, const struct vv_presentation *how,
                                const struct vv_sheet *const *sheets, size_t count,
                                struct varve_error *error)
{
    bool is_first = true;
    enum varve_code code = VARVE_OK;
    for (size_t i = 0; i < count && code == VARVE_OK; i++) {
        struct block block = { stream, how, sheets[i], NULL, 0, 3 };
        code = make_columns(&block, error);
        if (code == VARVE_OK && block.count > 0) {
            if (!is_first)
                putc('\n', stream);
            is_first = false;
            put_block(&block);
        }
        drop_columns(&block);
    }
    return code;
}
