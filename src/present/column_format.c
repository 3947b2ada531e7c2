/* SPDX-License-Identifier: Apache-2.0 */
#include "present/column_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define DECIMALS_MAX 9

static double number_of(const struct vv_sheet_column *column, const struct vv_cell *cell)
{
    return column->type == VV_CELL_INT ? (double)cell->integer : cell->real;
}

static double largest_of(const struct vv_sheet *sheet, size_t column)
{
    double largest = 0;
    for (size_t row = 0; row < sheet->row_count; row++) {
        const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
        double size = cell->present ? fabs(number_of(&sheet->columns[column], cell)) : 0;
        if (isfinite(size) && size > largest)
            largest = size;
    }
    return largest;
}

static bool is_whole(const struct vv_sheet *sheet, size_t column)
{
    for (size_t row = 0; row < sheet->row_count; row++) {
        double value = number_of(&sheet->columns[column], vv_sheet_cell(sheet, row, column));
        if (vv_sheet_cell(sheet, row, column)->present && isfinite(value) && value != floor(value))
            return false;
    }
    return true;
}

/* Enough decimals for three digits of the largest number in the column; at least one if it is
 * scaled. */
static int decimals_for(const struct vv_sheet *sheet, size_t column, double largest,
                        const struct vv_scale *scale)
{
    if (scale->size == 1 && is_whole(sheet, column))
        return 0;
    int decimals = 1;
    for (double shown = largest / scale->size * 10;
         shown > 0 && shown < 99.5 && decimals < DECIMALS_MAX; decimals++)
        shown *= 10;
    return decimals;
}

/* Has the unit steps that differ by powers of ten, so that each cell needs its own? */
static bool has_steps(enum vv_unit unit)
{
    return unit == VV_UNIT_NS || unit == VV_UNIT_BYTES || unit == VV_UNIT_FLOP ||
           unit == VV_UNIT_FLOP_PER_S || unit == VV_UNIT_BYTES_PER_S;
}

void vv_face_init(struct vv_face *face, const struct vv_sheet *sheet, size_t column,
                  const char *unit)
{
    const struct vv_sheet_column *shown = &sheet->columns[column];
    face->column = shown;
    face->index = column;
    face->right = shown->type != VV_CELL_TEXT;
    face->scale = (struct vv_scale){ "", 1 };
    face->decimals = 0;
    bool is_asked = shown->unit == VV_UNIT_NS && vv_scale_of_time(unit, &face->scale);
    face->has_unit = face->right && has_steps(shown->unit) && !is_asked;
    if (face->right && !face->has_unit && !is_asked)
        face->scale = vv_scale_fitting(shown->unit, 0);
    if (face->right && !face->has_unit)
        face->decimals = shown->unit == VV_UNIT_RATIO
                             ? 1
                             : decimals_for(sheet, column, largest_of(sheet, column), &face->scale);
    bool has_both = shown->title[0] != '\0' && face->scale.name[0] != '\0';
    snprintf(face->title, sizeof face->title, "%s%s%s", shown->title, has_both ? " " : "",
             face->scale.name);
}

/* An instant of a clock that does not count from 1970 is a number of seconds. */
static const char *instant_text(int64_t time_ns, const char *format, bool with_ms,
                                char buffer[VV_NUMBER_BYTES])
{
    if (!vv_is_date(time_ns)) {
        char number[VV_NUMBER_BYTES - 2];
        vv_number_decimal((double)time_ns / 1e9, with_ms ? 3 : 6, number, sizeof number);
        snprintf(buffer, VV_NUMBER_BYTES, "%s s", number);
        return buffer;
    }
    time_t seconds = (time_t)(time_ns / 1000000000 - (time_ns % 1000000000 < 0));
    struct tm parts;
    if (localtime_r(&seconds, &parts) == NULL)
        return VV_FACE_EMPTY;
    size_t length = strftime(buffer, VV_NUMBER_BYTES, format, &parts);
    if (with_ms)
        snprintf(buffer + length, VV_NUMBER_BYTES - length, ".%03d",
                 (int)((time_ns - (int64_t)seconds * 1000000000) / 1000000));
    return buffer;
}

/* A number above 0 that is too small for the column's decimals is not shown as zero. */
static const char *scaled_text(double value, int decimals, char buffer[VV_NUMBER_BYTES])
{
    double last_digit = pow(10, -decimals);
    if (value > 0 && value < last_digit / 2)
        snprintf(buffer, VV_NUMBER_BYTES, "<%.*f", decimals, last_digit);
    else
        vv_number_decimal(value, decimals, buffer, VV_NUMBER_BYTES);
    return buffer;
}

static const char *unscaled_text(const struct vv_face *face, const struct vv_cell *cell,
                                 char buffer[VV_NUMBER_BYTES])
{
    if (face->column->type == VV_CELL_REAL)
        return scaled_text(cell->real, face->decimals, buffer);
    if (face->column->unit == VV_UNIT_NONE) /* an identifier: with blanks it could not be copied */
        snprintf(buffer, VV_NUMBER_BYTES, "%" PRId64, cell->integer);
    else
        vv_number_count(cell->integer, buffer, VV_NUMBER_BYTES);
    return buffer;
}

static bool has_value(const struct vv_face *face, const struct vv_cell *cell)
{
    return cell->present && (face->column->type != VV_CELL_REAL || isfinite(cell->real));
}

const char *vv_face_text(const struct vv_face *face, const struct vv_cell *cell,
                         char buffer[VV_NUMBER_BYTES])
{
    if (!has_value(face, cell))
        return VV_FACE_EMPTY;
    if (face->column->type == VV_CELL_TEXT)
        return cell->text;
    if (face->column->unit == VV_UNIT_TIME)
        return instant_text(cell->integer, "%H:%M:%S", true, buffer);
    double value = number_of(face->column, cell);
    if (face->has_unit && value == 0)
        return "0";
    if (face->has_unit) {
        vv_number_scaled(value, face->column->unit, buffer, VV_NUMBER_BYTES);
        return buffer;
    }
    if (face->scale.size == 1)
        return unscaled_text(face, cell, buffer);
    return scaled_text(value / face->scale.size, face->decimals, buffer);
}

const char *vv_face_text_alone(const struct vv_face *face, const struct vv_cell *cell,
                               const char *unit, char buffer[VV_NUMBER_BYTES])
{
    const struct vv_sheet_column *column = face->column;
    struct vv_scale asked;
    if (!has_value(face, cell) || column->type == VV_CELL_TEXT)
        return vv_face_text(face, cell, buffer);
    if (column->unit == VV_UNIT_TIME)
        return instant_text(cell->integer, "%Y-%m-%d %H:%M:%S %z", false, buffer);
    if (column->unit == VV_UNIT_RATIO)
        vv_number_percent(number_of(column, cell), buffer, VV_NUMBER_BYTES);
    else if (column->unit == VV_UNIT_NS && vv_scale_of_time(unit, &asked)) {
        char number[VV_NUMBER_BYTES / 2];
        snprintf(number, sizeof number, "%s", vv_face_text(face, cell, buffer));
        snprintf(buffer, VV_NUMBER_BYTES, "%s %s", number, asked.name);
    } else if (column->unit == VV_UNIT_NONE || column->unit == VV_UNIT_COUNT)
        return unscaled_text(face, cell, buffer);
    else
        vv_number_scaled(number_of(column, cell), column->unit, buffer, VV_NUMBER_BYTES);
    return buffer;
}
