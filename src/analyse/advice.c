/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c — table "advice": at most three findings, each with its evidence and the command that
 * prints the evidence.
 *
 * A rule is a row of data. It names a column of a table, the rows that count, the column to divide
 * by, and the share from which the quotient is a finding. A rule reads only cells that a user can
 * print too. The findings with the largest weighted share come first. */
#include "analyse/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "meaning/call_kind.h"
#include "question/question.h"
#include "sheet/number.h"

#define FINDINGS_MAX 3
#define TEXT_BYTES 400
#define CELL_BYTES 120

enum { NUMBER, FINDING, SEE, RULE, SHARE, COLUMNS };

static const struct vv_sheet_column advice_columns[COLUMNS] = {
    { "number", "number", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "finding", "finding", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "see", "see", VV_CELL_TEXT, VV_UNIT_NONE, false, false },
    { "rule", "rule", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
};

_Static_assert(CELL_BYTES >= VV_NUMBER_BYTES, "a number fits a cell's text");

struct rule {
    const char *name;
    vv_analyse_fn *table;
    const char *key, *value;   /* rows whose text column `key` is `value`; NULL = every row      */
    const char *part, *whole;  /* columns: the share is part / whole; whole NULL: part is a share */
    double least;              /* least share that is a finding                                  */
    double weight;             /* multiplies the share where findings of rules are compared      */
    const char *says, *see;    /* "{column}" stands for that cell of the row, "{share}" for the
                                  share */
};

static const struct rule rules[] = {
    { "lost_events", vv_analyse_trace, NULL, NULL, "lost", "events", 1e-12, 100,
      "{lost} events were lost: every figure here is too low.", "varve info --table processes" },
    { "data_wait", vv_analyse_step_split, "row", "total", "data_loader_ns", "duration_ns", 0.05, 1,
      "The steps wait {share} of their time for data.", "varve report --table call_tree" },
    { "synchronisation", vv_analyse_step_split, "row", "total", "sync_ns", "duration_ns", 0.1, 1,
      "The steps wait {share} of their time in calls that synchronise, while no device works.",
      "varve idle" },
    { "allocation", vv_analyse_step_split, "row", "total", "allocation_ns", "duration_ns", 0.05, 1,
      "The steps spend {share} of their time allocating memory of the device.", "varve memory" },
    { "compilation", vv_analyse_step_split, "row", "total", "compile_ns", "duration_ns", 0.05, 1,
      "The steps spend {share} of their time compiling.",
      "varve report --table step_split --fields +compile_ns" },
    { "garbage_collection", vv_analyse_step_split, "row", "total", "garbage_collection_ns",
      "duration_ns", 0.02, 1,
      "The steps spend {share} of their time collecting garbage.",
      "varve report --table step_split --fields +garbage_collection_ns" },
    { "exposed_communication", vv_analyse_devices, "row", "device", "exposed_communication_ns",
      "span_ns", 0.1, 1.5,
      "{device} communicates {share} of the time while nothing computes.",
      "varve report --table overlap" },
    { "exposed_copies", vv_analyse_devices, "row", "device", "exposed_memcpy_ns", "span_ns", 0.05,
      1.5,
      "{device} copies memory {share} of the time while nothing computes.",
      "varve report --table devices" },
    { "device_idle", vv_analyse_devices, "row", "device", "idle_ns", "span_ns", 0.2, 1,
      "{device} is idle {share} of the time between its first and its last work.", "varve idle" },
    { "slow_step", vv_analyse_steps, NULL, NULL, "duration_ns", "median_ns", 1.5, 0.1,
      "Step {step} took {duration_ns}, the median {median_ns}.", "varve steps --steps {step}" },
    { "one_operator", vv_analyse_operators, "row", "operator", "step_self_share", NULL, 0.4, 0.5,
      "{name} alone takes {share} of the steps.", "varve report --by shape" },
    { "leak", vv_analyse_memory_leaks, NULL, NULL, "live_share", NULL, 0.01, 1,
      "{path} allocated {bytes} in {steps} steps that nothing released.",
      "varve memory --table memory_leaks" },
    { "slack", vv_analyse_memory, NULL, NULL, "slack_bytes", "reserved_peak_bytes", 0.3, 0.3,
      "Of the {reserved_peak_bytes} that the allocator held of {device}, {slack_bytes} lay idle.",
      "varve memory" },
};

struct finding {
    const struct rule *rule;
    double share;
    char says[TEXT_BYTES], see[TEXT_BYTES];
};

/* ---- one rule ---- */

static double value_of(const struct vv_sheet *sheet, size_t row, size_t column, bool *out_known)
{
    const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
    *out_known &= cell->present && sheet->columns[column].type != VV_CELL_TEXT;
    if (!*out_known)
        return 0;
    return sheet->columns[column].type == VV_CELL_INT ? (double)cell->integer : cell->real;
}

/* A name that is too long ends in "…", after whole characters. */
static void write_name(const char *name, char *text)
{
    size_t length = strlen(name), kept = CELL_BYTES - sizeof "…";
    while (length >= CELL_BYTES && kept > 0 && ((unsigned char)name[kept] & 0xC0) == 0x80)
        kept--;
    if (length < CELL_BYTES)
        snprintf(text, CELL_BYTES, "%s", name);
    else
        snprintf(text, CELL_BYTES, "%.*s…", (int)kept, name);
}

static void write_cell(const struct vv_sheet *sheet, size_t row, size_t column, char *text)
{
    const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
    enum vv_unit unit = sheet->columns[column].unit;
    if (!cell->present)
        snprintf(text, CELL_BYTES, "–");
    else if (sheet->columns[column].type == VV_CELL_TEXT)
        write_name(cell->text, text);
    else if (sheet->columns[column].type == VV_CELL_REAL)
        vv_number_percent(cell->real, text, CELL_BYTES);
    else if (unit == VV_UNIT_NS)
        vv_number_duration(cell->integer, text, CELL_BYTES);
    else if (unit == VV_UNIT_BYTES)
        vv_number_bytes(cell->integer, text, CELL_BYTES);
    else if (unit == VV_UNIT_COUNT)
        vv_number_count(cell->integer, text, CELL_BYTES);
    else
        snprintf(text, CELL_BYTES, "%lld", (long long)cell->integer);
}

/* Replaces each name in braces by its value. */
static void write_text(const char *form, const struct vv_sheet *sheet, size_t row, double share,
                       char *out_text)
{
    size_t length = 0;
    for (const char *cursor = form; *cursor != '\0' && length + 1 < TEXT_BYTES;) {
        const char *end = *cursor == '{' ? strchr(cursor, '}') : NULL;
        char name[40], value[CELL_BYTES] = "";
        if (end == NULL || (size_t)(end - cursor) > sizeof name) {
            out_text[length++] = *cursor++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)(end - cursor - 1), cursor + 1);
        size_t column = vv_sheet_find(sheet, name);
        if (strcmp(name, "share") == 0)
            vv_number_percent(share, value, sizeof value);
        else if (column != SIZE_MAX)
            write_cell(sheet, row, column, value);
        length += (size_t)snprintf(out_text + length, TEXT_BYTES - length, "%s", value);
        length = length < TEXT_BYTES ? length : TEXT_BYTES - 1;
        cursor = end + 1;
    }
    out_text[length] = '\0';
}

/* A wait that devices fill with work is no fault; rule synchronisation speaks of the others. A copy
 * that is not asynchronous waits for its own work. */
static bool is_wait(const struct vv_sheet *sheet, size_t row)
{
    size_t column = vv_sheet_find(sheet, "name");
    const struct vv_cell *cell = column != SIZE_MAX ? vv_sheet_cell(sheet, row, column) : NULL;
    enum vv_call_kind kind =
        cell != NULL && cell->present ? vv_call_kind(cell->text) : VV_CALL_OTHER;
    return (kind >= VV_CALL_AWAITS_DEVICE && kind <= VV_CALL_AWAITS_WORK) ||
           (kind == VV_CALL_COPIES && strstr(cell->text, "Async") == NULL);
}

static bool row_counts(const struct rule *rule, const struct vv_sheet *sheet, size_t row)
{
    size_t column = rule->key != NULL ? vv_sheet_find(sheet, rule->key) : SIZE_MAX;
    if (rule->table == vv_analyse_operators && is_wait(sheet, row))
        return false;
    if (rule->key == NULL)
        return true;
    const struct vv_cell *cell = column != SIZE_MAX ? vv_sheet_cell(sheet, row, column) : NULL;
    return cell != NULL && cell->present && strcmp(cell->text, rule->value) == 0;
}

/* The row with the greatest share becomes the finding, if this share is at least rule->least. */
static bool judge(const struct rule *rule, const struct vv_sheet *sheet,
                  struct finding *out_finding)
{
    size_t part = vv_sheet_find(sheet, rule->part), best_row = SIZE_MAX;
    size_t whole = rule->whole != NULL ? vv_sheet_find(sheet, rule->whole) : SIZE_MAX;
    double best = 0;
    if (part == SIZE_MAX || (rule->whole != NULL && whole == SIZE_MAX))
        return false;
    for (size_t row = 0; row < sheet->row_count; row++) {
        bool is_known = row_counts(rule, sheet, row);
        double share = value_of(sheet, row, part, &is_known);
        double over = rule->whole != NULL ? value_of(sheet, row, whole, &is_known) : 1;
        if (over == 0) /* of 0, such as losses where nothing was recorded: the share is 1 */
            over = share;
        if (!is_known || over <= 0 || share / over < rule->least ||
            (best_row != SIZE_MAX && share / over <= best))
            continue;
        best = share / over;
        best_row = row;
    }
    if (best_row == SIZE_MAX)
        return false;
    *out_finding = (struct finding){ .rule = rule, .share = best };
    write_text(rule->says, sheet, best_row, best, out_finding->says);
    write_text(rule->see, sheet, best_row, best, out_finding->see);
    return true;
}

/* ---- all of them ---- */

static int compare_findings(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    double left_weight = left->share * left->rule->weight,
           right_weight = right->share * right->rule->weight;
    if (left_weight != right_weight)
        return left_weight > right_weight ? -1 : 1;
    return (left->rule > right->rule) - (left->rule < right->rule);
}

static enum varve_code put_finding(const struct finding *finding, size_t number,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, NUMBER, (int64_t)number);
    vv_sheet_real(sheet, row, SHARE, finding->share);
    VV_TRY(vv_sheet_text(sheet, row, FINDING, finding->says, error));
    VV_TRY(vv_sheet_text(sheet, row, SEE, finding->see, error));
    return vv_sheet_text(sheet, row, RULE, finding->rule->name, error);
}

#define RULES (sizeof rules / sizeof *rules)

_Static_assert(RULES <= VV_ADVICE_TABLES_MAX, "each rule may have a table of its own");

/* Rules of one table follow each other. */
size_t vv_advice_tables(vv_analyse_fn *out_tables[VV_ADVICE_TABLES_MAX])
{
    size_t count = 0;
    for (size_t r = 0; r < RULES; r++)
        if (r == 0 || rules[r].table != rules[r - 1].table)
            out_tables[count++] = rules[r].table;
    return count;
}

/* Rows that fill 40 % of the steps are two at most, so they are among any three operators that
 * stand in the usual order. */
bool vv_advice_can_use(vv_analyse_fn *table, const struct vv_question *question)
{
    if (table != vv_analyse_operators)
        return question->compat == NULL;
    return question->by == NULL && question->sort == NULL && question->compat == NULL &&
           (question->top == 0 || question->top >= 3);
}

static const struct vv_sheet *find_made(const struct vv_question *question, vv_analyse_fn *table)
{
    for (size_t i = 0; i < question->made_count; i++)
        if (question->made[i].analyse == table)
            return question->made[i].sheet;
    return NULL;
}

static void judge_sheets(const struct vv_sheet *const *sheets, vv_analyse_fn *const *tables,
                         struct finding *findings, size_t *out_count)
{
    for (size_t r = 0, t = 0; r < RULES; r++) {
        t += rules[r].table != tables[t];
        *out_count += judge(&rules[r], sheets[t], &findings[*out_count]);
    }
}

/* Makes the tables that nobody has made. */
static enum varve_code judge_tables(const struct vv_model *model,
                                    const struct vv_question *question, struct finding *findings,
                                    size_t *out_count, struct varve_error *error)
{
    const struct vv_question everything = { .selection = question->selection };
    vv_analyse_fn *tables[VV_ADVICE_TABLES_MAX];
    const struct vv_sheet *sheets[VV_ADVICE_TABLES_MAX];
    struct vv_sheet own[VV_ADVICE_TABLES_MAX];
    size_t count = vv_advice_tables(tables), own_count = 0;
    enum varve_code code = VARVE_OK;
    for (size_t t = 0; t < count && code == VARVE_OK; t++) {
        sheets[t] = find_made(question, tables[t]);
        if (sheets[t] != NULL)
            continue;
        sheets[t] = &own[own_count];
        code = vv_analyse(tables[t], model, &everything, &own[own_count], error);
        own_count += code == VARVE_OK;
    }
    if (code == VARVE_OK)
        judge_sheets(sheets, tables, findings, out_count);
    while (own_count > 0)
        vv_sheet_deinit(&own[--own_count]);
    return code;
}

enum varve_code vv_analyse_advice(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct finding *findings;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &findings, RULES, error));
    size_t count = 0;
    vv_sheet_init(out, "advice", "LOOK FIRST", advice_columns, COLUMNS);
    VV_TRY(judge_tables(model, question, findings, &count, error));
    if (count > 0)
        qsort(findings, count, sizeof *findings, compare_findings);
    size_t shown = question->top != 0 && count > FINDINGS_MAX ? FINDINGS_MAX : count;
    for (size_t i = 0; i < shown; i++)
        VV_TRY(put_finding(&findings[i], i + 1, out, error));
    if (count == 0)
        return vv_sheet_policy(out, error, "nothing stands out by the %zu rules", RULES);
    if (shown == count)
        return VARVE_OK;
    return vv_sheet_policy(out, error, "%zu of %zu findings: --table advice --top 0", shown, count);
}
