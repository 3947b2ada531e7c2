/* SPDX-License-Identifier: Apache-2.0 */
/* advice.c — table "advice": at most three findings, each with what was found, why, what to try,
 * and the command that prints the evidence.
 *
 * The rules are data (rules/rules.h). A rule that has a bound is asked only where table verdict
 * says that the steps are bound by it: then the tables that only such rules need are made, and no
 * others. The findings with the largest weighted share come first. */
#include "analyse/advice/advice.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/advice/command.h"
#include "analyse/advice/needs.h"
#include "analyse/advice/rules/rules.h"
#include "analyse/advice/sentence.h"
#include "analyse/trace/unseen_facts.h"
#include "derive/select/filter.h"
#include "derive/select/scope.h"
#include "meaning/call_kind.h"
#include "meaning/platform.h"
#include "model/find.h"
#include "sheet/number.h"
#include "varve/varve.h"

#define FINDINGS_MAX 3
#define TORCH_CALL_COST_NS 150 /* doc/truth.md                                                   */
#define TABLES_MAX 40u

enum { NUMBER, FINDING, WHY, TRY, SEE, RULE, SHARE, SAVES, COLUMNS };

static const struct vv_sheet_column advice_columns[COLUMNS] = {
    { "number", "number", VV_CELL_INT, VV_UNIT_NONE, true, false },
    { "finding", "finding", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    { "why", "why", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    { "try", "try", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    { "see", "see", VV_CELL_TEXT, VV_UNIT_NONE, false, VV_TEXT_SENTENCE },
    { "rule", "rule", VV_CELL_TEXT, VV_UNIT_NONE, true, false },
    { "share", "share", VV_CELL_REAL, VV_UNIT_RATIO, true, false },
    { "saves_ns", "saves at most", VV_CELL_INT, VV_UNIT_NS, true, false },
};

struct finding {
    const struct vv_rule *rule;
    double share;
    int64_t saves_ns; /* of a step; -1 = not known                                              */
    double told;      /* the `order` of its evidence                                            */
    const struct vv_evidence *evidence; /* NULL = none                                           */
    char says[VV_SENTENCE_BYTES], why[VV_SENTENCE_BYTES], remedy[VV_SENTENCE_BYTES],
        see[VV_SENTENCE_BYTES], filter[VV_SENTENCE_BYTES];
};

/* The tables that rules have been asked of. Those of the question are borrowed. */
struct tables {
    const struct vv_model *model;
    const struct vv_question *question;
    vv_analyse_fn *analyse[TABLES_MAX];
    const char *by[TABLES_MAX];
    const struct vv_sheet *sheets[TABLES_MAX];
    struct vv_sheet *own;
    size_t count, own_count;
    enum vv_platform platform;
    bool has_ranks;         /* several                                                          */
    double call_cost_ns;    /* what recording takes of an operator's time                        */
    double steps, steps_ns; /* their number and time; 0 = the trace has none                     */
    const struct finding *findings; /* so far                                                   */
    size_t finding_count;
};

/* ---- tables ---- */

static enum varve_code get_table(struct tables *tables, vv_analyse_fn *table, const char *by,
                                 const struct vv_sheet **out_sheet, struct varve_error *error)
{
    const struct vv_question *question = tables->question;
    struct vv_question everything = { .selection = question->selection, .by = by,
                                      .host_peaks = question->host_peaks };
    everything.selection.filter = NULL; /* what is left out would seem to take no time           */
    for (size_t i = 0; i < question->made_count && by == NULL; i++)
        if (question->made[i].analyse == table) {
            *out_sheet = question->made[i].sheet;
            return VARVE_OK;
        }
    for (size_t i = 0; i < tables->count; i++)
        if (tables->analyse[i] == table && tables->by[i] == by) {
            *out_sheet = tables->sheets[i];
            return VARVE_OK;
        }
    if (tables->count == TABLES_MAX)
        VV_FAIL(error, VARVE_CORRUPT, "more than %u tables in rules", TABLES_MAX);
    VV_TRY(vv_analyse(table, tables->model, &everything, &tables->own[tables->own_count], error));
    *out_sheet = &tables->own[tables->own_count++];
    tables->analyse[tables->count] = table;
    tables->by[tables->count] = by;
    tables->sheets[tables->count++] = *out_sheet;
    return VARVE_OK;
}

/* ---- rows ---- */

static double value_of(const struct vv_sheet *sheet, size_t row, size_t column, bool *out_known)
{
    const struct vv_cell *cell = vv_sheet_cell(sheet, row, column);
    *out_known &= cell->present && sheet->columns[column].type != VV_CELL_TEXT;
    if (!*out_known)
        return 0;
    return sheet->columns[column].type == VV_CELL_INT ? (double)cell->integer : cell->real;
}

static bool has_key(const struct vv_sheet *sheet, size_t row, const char *key, const char *value)
{
    size_t column = key != NULL ? vv_sheet_find(sheet, key) : SIZE_MAX;
    if (key == NULL)
        return true;
    const struct vv_cell *cell = column != SIZE_MAX ? vv_sheet_cell(sheet, row, column) : NULL;
    return cell != NULL && cell->present && vv_filter_like_any(cell->text, value);
}

/* Rows of operators that are no work of their own. Only rules that name waits speak of them. */
static bool is_no_work(const struct vv_sheet *sheet, size_t row)
{
    size_t column = vv_sheet_find(sheet, "name");
    const struct vv_cell *cell = column != SIZE_MAX ? vv_sheet_cell(sheet, row, column) : NULL;
    return cell != NULL && cell->present && vv_is_no_work(cell->text);
}

/* The share of one row; 0 if it does not count. */
static double share_of(const struct vv_measure *measure, const struct vv_sheet *sheet, size_t row,
                       double steps_ns)
{
    size_t part = vv_sheet_find(sheet, measure->part);
    size_t whole = measure->whole != NULL && strcmp(measure->whole, VV_OF_STEPS) != 0
                       ? vv_sheet_find(sheet, measure->whole)
                       : SIZE_MAX;
    bool is_known = part != SIZE_MAX && has_key(sheet, row, measure->key, measure->value);
    bool is_named = measure->key != NULL && strcmp(measure->key, "name") == 0;
    if (!is_known ||
        (measure->table == vv_analyse_operators && !is_named && is_no_work(sheet, row)))
        return 0;
    double share = value_of(sheet, row, part, &is_known), over = 1;
    if (whole != SIZE_MAX) {
        over = value_of(sheet, row, whole, &is_known);
        over = over == 0 ? share : over; /* losses where nothing was recorded: the share is 1 */
    } else if (measure->whole != NULL) {
        over = steps_ns;
    }
    if (!is_known || over <= 0)
        return 0;
    return measure->of == VV_REST_OF_ROW ? 1 - share / over : share / over;
}

static bool has_spoken(const struct tables *tables, const char *name)
{
    for (size_t i = 0; i < tables->finding_count && name != NULL; i++)
        if (strcmp(tables->findings[i].rule->name, name) == 0)
            return true;
    return false;
}

/* Has another rule spoken of what this row is caused by? */
static bool is_told(const struct tables *tables, const struct vv_rule *rule,
                    const struct vv_sheet *sheet, size_t row)
{
    if (rule == NULL || rule->by_cause == NULL)
        return false;
    for (const struct vv_evidence *why = rule->by_cause; why->table != NULL; why++)
        if (why->is_its && has_key(sheet, row, "cause", why->cause) &&
            has_spoken(tables, why->rule))
            return true;
    return false;
}

/* The row with the greatest share, if the measure's share is at least measure->least; otherwise
 * SIZE_MAX. `rule`: whose finding it would be; NULL = nobody's. */
static size_t find_row(const struct tables *tables, const struct vv_measure *measure,
                       const struct vv_rule *rule, const struct vv_sheet *sheet, double *out_share)
{
    size_t best_row = SIZE_MAX;
    double best = 0, sum = 0;
    for (size_t row = 0; row < sheet->row_count; row++) {
        double share = is_told(tables, rule, sheet, row)
                           ? 0
                           : share_of(measure, sheet, row, tables->steps_ns);
        sum += share;
        if (share > best) {
            best = share;
            best_row = row;
        }
    }
    *out_share = measure->of == VV_ALL_ROWS ? sum : best;
    return *out_share >= measure->least ? best_row : SIZE_MAX;
}

/* A row that was found, of its table; row SIZE_MAX = none. */
struct answer {
    const struct vv_sheet *sheet;
    size_t row;
    double share;
};

/* Measures, over a table that is made if nobody has asked for it yet. */
static enum varve_code ask(struct tables *tables, const struct vv_measure *measure,
                           const struct vv_rule *rule, struct answer *out_answer,
                           struct varve_error *error)
{
    const char *by = rule != NULL ? rule->by : NULL;
    out_answer->row = SIZE_MAX;
    VV_TRY(get_table(tables, measure->table, by, &out_answer->sheet, error));
    out_answer->row =
        find_row(tables, measure, rule, out_answer->sheet, &out_answer->share);
    return VARVE_OK;
}

/* ---- one rule ---- */

/* Is the measure there? A measure of no table is. */
static enum varve_code holds(struct tables *tables, const struct vv_measure *measure, bool *out_is,
                             struct varve_error *error)
{
    struct answer answer;
    *out_is = true;
    if (measure->table == NULL)
        return VARVE_OK;
    VV_TRY(ask(tables, measure, NULL, &answer, error));
    *out_is = answer.row != SIZE_MAX;
    return VARVE_OK;
}

static enum varve_code is_asked(struct tables *tables, const struct vv_rule *rule, bool *out_is,
                                struct varve_error *error)
{
    const struct vv_measure bound = { vv_analyse_verdict, "bound_by", rule->bound, "share", NULL,
                                      rule->bound_least, VV_EACH_ROW };
    bool is_forbidden = false;
    *out_is = vv_rule_has_needed(tables->model, rule->needs);
    if (*out_is && rule->bound != NULL)
        VV_TRY(holds(tables, &bound, out_is, error));
    if (*out_is)
        VV_TRY(holds(tables, &rule->also, out_is, error));
    if (*out_is) {
        VV_TRY(holds(tables, &rule->besides, out_is, error));
        if (!*out_is && rule->or_besides.table != NULL)
            VV_TRY(holds(tables, &rule->or_besides, out_is, error));
    }
    if (*out_is && rule->never.table != NULL)
        VV_TRY(holds(tables, &rule->never, &is_forbidden, error));
    *out_is &= !is_forbidden;
    return VARVE_OK;
}

/* Have both rows the same number in a column that both tables have? */
static bool is_same(const struct vv_sheet *sheet, size_t row, const struct vv_sheet *other,
                    size_t other_row, const char *name)
{
    size_t column = name != NULL ? vv_sheet_find(sheet, name) : SIZE_MAX;
    size_t other_column = name != NULL ? vv_sheet_find(other, name) : SIZE_MAX;
    bool is_known = column != SIZE_MAX && other_column != SIZE_MAX;
    if (name == NULL)
        return true;
    return is_known && value_of(sheet, row, column, &is_known) ==
                           value_of(other, other_row, other_column, &is_known) && is_known;
}

/* The row with the largest `order` of those that count and belong to the finding's row, if that is
 * more than what is told already. */
static enum varve_code tell_why(struct tables *tables, const struct vv_evidence *why,
                                const struct answer *found, struct finding *finding,
                                struct varve_error *error)
{
    const struct vv_measure measure = { why->table, why->key, why->value, why->order, NULL, 1e-12,
                                        VV_EACH_ROW };
    const struct vv_sheet *sheet;
    double weight = why->weight > 0 ? why->weight : 1;
    size_t best_row = SIZE_MAX;
    if (why->says == NULL ||
        (why->cause != NULL && !has_key(found->sheet, found->row, "cause", why->cause)))
        return VARVE_OK;
    VV_TRY(get_table(tables, why->table, finding->rule->by, &sheet, error));
    for (size_t row = 0; row < sheet->row_count; row++) {
        double value = share_of(&measure, sheet, row, tables->steps_ns) * weight;
        if (value <= finding->told || !is_same(found->sheet, found->row, sheet, row, why->same))
            continue;
        finding->told = value;
        best_row = row;
    }
    if (best_row == SIZE_MAX)
        return VARVE_OK;
    finding->evidence = why;
    vv_sentence_write(why->says, sheet, best_row, finding->told, tables->has_ranks, finding->why);
    return VARVE_OK;
}

/* What to try: as the evidence says, or else as the rule does. */
static const char *remedy_of(const struct tables *tables, const struct finding *finding)
{
    const struct vv_evidence *why = finding->evidence;
    const struct vv_rule *other =
        why != NULL && why->rule != NULL ? vv_rule_named(why->rule) : NULL;
    if (why != NULL && why->remedy != NULL)
        return why->remedy;
    return vv_rule_remedy(other != NULL ? other : finding->rule, tables->platform);
}

/* Is the finding about this row? */
static bool counts(const struct tables *tables, const struct vv_rule *rule,
                   const struct vv_sheet *sheet, size_t row, size_t found_row)
{
    return rule->is.of == VV_ALL_ROWS ? share_of(&rule->is, sheet, row, tables->steps_ns) > 0
                                      : row == found_row;
}

/* The sum of the column: of the row, or of all rows that count. */
static double sum_to_save(const struct tables *tables, const struct vv_rule *rule,
                          const struct vv_sheet *sheet, size_t found_row, size_t column)
{
    double sum = 0;
    for (size_t row = 0; row < sheet->row_count; row++) {
        bool is_known = counts(tables, rule, sheet, row, found_row);
        double value = is_known ? value_of(sheet, row, column, &is_known) : 0;
        sum += is_known ? value : 0;
    }
    return sum;
}

/* While it is recorded, an operator of PyTorch's takes longer, which nobody saves. */
static double call_cost_ns(const struct vv_model *model)
{
    const struct vv_unseen_facts facts = { .model = model };
    return strncmp(vv_unseen_collector(&facts, "torch"), "attached", 8) == 0 ? TORCH_CALL_COST_NS
                                                                             : 0;
}

/* What mending saves of one step, but for what it saves too; below 0 = not known. */
static double saving_of(const struct tables *tables, const struct vv_rule *rule,
                        const struct vv_sheet *sheet, size_t row, double share)
{
    double steps = tables->steps, time_ns;
    bool is_known = true;
    if (rule->saves == NULL || steps <= 0)
        return -1;
    if (rule->of_steps != NULL)
        steps = value_of(sheet, row, vv_sheet_find(sheet, rule->of_steps), &is_known);
    if (!is_known || steps <= 0)
        return -1;
    if (strcmp(rule->saves, VV_OF_STEPS) == 0) {
        time_ns = share * tables->steps_ns;
    } else {
        size_t column = vv_sheet_find(sheet, rule->saves);
        if (column == SIZE_MAX)
            return -1;
        time_ns = sum_to_save(tables, rule, sheet, row, column);
    }
    if (rule->is.table == vv_analyse_operators)
        time_ns -= tables->call_cost_ns * sum_to_save(tables, rule, sheet, row,
                                                      vv_sheet_find(sheet, "step_calls"));
    return fmax(time_ns, 0) * rule->saves_part / steps;
}

/* Of one step, which is no more than all of it. */
static enum varve_code find_saving(struct tables *tables, const struct vv_rule *rule,
                                   const struct answer *found, int64_t *out_ns,
                                   struct varve_error *error)
{
    double saves_ns = saving_of(tables, rule, found->sheet, found->row, found->share);
    const struct vv_sheet *sheet;
    *out_ns = -1;
    if (saves_ns < 0)
        return VARVE_OK;
    if (rule->saves_too.table != NULL) {
        VV_TRY(get_table(tables, rule->saves_too.table, NULL, &sheet, error));
        for (size_t row = 0; row < sheet->row_count; row++)
            saves_ns += share_of(&rule->saves_too, sheet, row, tables->steps_ns) / tables->steps;
    }
    *out_ns = (int64_t)fmin(saves_ns, tables->steps_ns / tables->steps);
    return VARVE_OK;
}

/* NULL as form: no sentence. */
static void write_sentence(const struct tables *tables, const char *form,
                           const struct answer *found, char *out_text)
{
    if (form != NULL)
        vv_sentence_write(form, found->sheet, found->row, found->share, tables->has_ranks,
                          out_text);
}

/* The filter of the command, with a part for each row that counts. */
static void write_filter(const struct tables *tables, const struct answer *found,
                         struct finding *finding)
{
    const struct vv_rule *rule = finding->rule;
    char part[VV_SENTENCE_BYTES];
    if (strcmp(rule->filter, VV_ITS_NAMES) != 0) {
        write_sentence(tables, rule->filter, found, finding->filter);
        return;
    }
    for (size_t row = 0, length = 0; row < found->sheet->row_count; row++) {
        struct answer one = { found->sheet, row, 0 };
        if (!counts(tables, rule, found->sheet, row, found->row))
            continue;
        write_sentence(tables, rule->filter, &one, part);
        if (length + strlen(part) + sizeof " || " > sizeof finding->filter)
            return;
        length += (size_t)snprintf(finding->filter + length, sizeof finding->filter - length,
                                   "%s%s", length > 0 ? " || " : "", part);
    }
}

/* Where the trace lacks what the command goes by, the call tree tells more. */
static void write_command(const struct tables *tables, const struct answer *found,
                          struct finding *finding)
{
    const struct vv_rule *rule = finding->rule;
    size_t column = vv_sheet_find(found->sheet, "name");
    const struct vv_cell *name =
        column != SIZE_MAX ? vv_sheet_cell(found->sheet, found->row, column) : NULL;
    if (!vv_command_tells(rule->see, tables->model,
                          name != NULL && name->present ? name->text : NULL)) {
        snprintf(finding->see, sizeof finding->see, "varve report --table call_tree");
        return;
    }
    write_sentence(tables, rule->see, found, finding->see);
    if (rule->filter != NULL)
        write_filter(tables, found, finding);
}

static enum varve_code judge(struct tables *tables, const struct vv_rule *rule,
                             struct finding *out_finding, bool *out_found,
                             struct varve_error *error)
{
    struct answer found = { .row = SIZE_MAX };
    VV_TRY(is_asked(tables, rule, out_found, error));
    if (*out_found)
        VV_TRY(ask(tables, &rule->is, rule, &found, error));
    *out_found = found.row != SIZE_MAX;
    if (!*out_found)
        return VARVE_OK;
    *out_finding = (struct finding){ .rule = rule, .share = found.share };
    write_sentence(tables, rule->says, &found, out_finding->says);
    write_command(tables, &found, out_finding);
    VV_TRY(find_saving(tables, rule, &found, &out_finding->saves_ns, error));
    VV_TRY(tell_why(tables, &rule->why, &found, out_finding, error));
    VV_TRY(tell_why(tables, &rule->or_why, &found, out_finding, error));
    VV_TRY(tell_why(tables, &rule->or_else, &found, out_finding, error));
    for (const struct vv_evidence *why = rule->by_cause; why != NULL && why->table != NULL; why++)
        VV_TRY(tell_why(tables, why, &found, out_finding, error));
    write_sentence(tables, remedy_of(tables, out_finding), &found, out_finding->remedy);
    return VARVE_OK;
}

/* ---- all of them ---- */

static int compare_findings(const void *a, const void *b)
{
    const struct finding *left = a, *right = b;
    double left_weight = left->share * left->rule->weight,
           right_weight = right->share * right->rule->weight;
    if (left_weight != right_weight)
        return left_weight > right_weight ? -1 : 1;
    return strcmp(left->rule->name, right->rule->name);
}

static enum varve_code put_text(struct vv_sheet *sheet, size_t row, size_t column, const char *text,
                                struct varve_error *error)
{
    return text[0] != '\0' ? vv_sheet_text(sheet, row, column, text, error) : VARVE_OK;
}

static enum varve_code put_finding(const struct finding *finding, size_t number,
                                   const struct vv_question *question, struct vv_scratch *scratch,
                                   struct vv_sheet *sheet, struct varve_error *error)
{
    const struct vv_command command = { finding->see, finding->filter, question };
    char says[VV_SENTENCE_BYTES + 80], saves[VV_NUMBER_BYTES];
    size_t row;
    VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
    vv_sheet_int(sheet, row, NUMBER, (int64_t)number);
    vv_sheet_real(sheet, row, SHARE, finding->share);
    snprintf(says, sizeof says, "%s", finding->says);
    if (finding->saves_ns > 0) {
        vv_sheet_int(sheet, row, SAVES, finding->saves_ns);
        vv_number_duration(finding->saves_ns, saves, sizeof saves);
        snprintf(says, sizeof says, "%s To gain: at most %s a step.", finding->says, saves);
    }
    VV_TRY(vv_sheet_text(sheet, row, FINDING, says, error));
    VV_TRY(put_text(sheet, row, WHY, finding->why, error));
    VV_TRY(put_text(sheet, row, TRY, finding->remedy, error));
    VV_TRY(vv_command_put(&command, scratch, sheet, row, SEE, error));
    return vv_sheet_text(sheet, row, RULE, finding->rule->name, error);
}

/* Tables that are made beside others of a screen, as every trace is asked of them. The others are
 * made when a rule wants them. The longest stand first; the second finds the phases, which others
 * wait for. */
size_t vv_advice_tables(vv_analyse_fn *out_tables[VV_ADVICE_TABLES_MAX])
{
    static vv_analyse_fn *const always[] = {
        vv_analyse_operators, vv_analyse_steps, vv_analyse_step_split, vv_analyse_verdict,
        vv_analyse_memory_leaks, vv_analyse_memory, vv_analyse_launches, vv_analyse_idle,
        vv_analyse_phases, vv_analyse_devices, vv_analyse_trace, vv_analyse_forward_only,
        vv_analyse_copies, vv_analyse_syncs, vv_analyse_host_gaps, vv_analyse_operator_counters,
        vv_analyse_collective_kinds, vv_analyse_step,
    };
    memcpy(out_tables, always, sizeof always);
    return sizeof always / sizeof *always;
}

/* Of operators it is the whole table that can be used: question->whole. */
bool vv_advice_can_use(vv_analyse_fn *table, const struct vv_question *question)
{
    return question->compat == NULL && (table != vv_analyse_operators || question->by == NULL);
}

static enum varve_code judge_all(struct tables *tables, struct finding *findings,
                                 size_t *out_count, struct varve_error *error)
{
    static const struct vv_measure steps = { vv_analyse_step, NULL, NULL, "steps", NULL, 1,
                                             VV_EACH_ROW },
                                   time = { vv_analyse_step, NULL, NULL, "total_ns", NULL, 1,
                                            VV_EACH_ROW };
    struct answer answer;
    VV_TRY(ask(tables, &steps, NULL, &answer, error));
    tables->steps = answer.share;
    VV_TRY(ask(tables, &time, NULL, &answer, error));
    tables->steps_ns = answer.share;
    for (size_t r = 0; r < vv_rules_count(); r++) {
        bool is_found;
        tables->findings = findings;
        tables->finding_count = *out_count;
        if (has_spoken(tables, vv_rule_at(r)->unless))
            continue;
        VV_TRY(judge(tables, vv_rule_at(r), &findings[*out_count], &is_found, error));
        *out_count += is_found;
    }
    return VARVE_OK;
}

enum varve_code vv_analyse_advice(const struct vv_model *model, const struct vv_question *question,
                                  struct vv_scratch *scratch, struct vv_sheet *out,
                                  struct varve_error *error)
{
    struct tables tables = { .model = model, .question = question,
                             .platform = vv_platform_of(model),
                             .call_cost_ns = call_cost_ns(model) };
    struct finding *findings;
    struct vv_scope scope;
    size_t count = 0;
    vv_sheet_init(out, "advice", "LOOK FIRST", advice_columns, COLUMNS);
    VV_TRY(vv_scope_init(&scope, model, &question->selection, scratch, error));
    tables.has_ranks = vv_scope_rank_count(&scope) > 1;
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &findings, vv_rules_count(), error));
    VV_TRY(VV_SCRATCH_ZEROS(scratch, &tables.own, TABLES_MAX, error));
    enum varve_code code = judge_all(&tables, findings, &count, error);
    while (tables.own_count > 0)
        vv_sheet_deinit(&tables.own[--tables.own_count]);
    VV_TRY(code);
    if (count > 0)
        qsort(findings, count, sizeof *findings, compare_findings);
    size_t shown = question->top != 0 && count > FINDINGS_MAX ? FINDINGS_MAX : count;
    for (size_t i = 0; i < shown; i++)
        VV_TRY(put_finding(&findings[i], i + 1, question, scratch, out, error));
    if (count == 0 && model->slices.table.count == 0)
        return vv_sheet_policy(out, error, "nothing recorded that a rule could look at");
    if (count == 0)
        return vv_sheet_policy(out, error, "nothing stands out by the %zu rules", vv_rules_count());
    if (shown == count && question->selection.filter != NULL)
        return vv_sheet_policy(out, error, "of all that ran");
    if (shown == count)
        return VARVE_OK;
    return vv_sheet_policy(out, error, "%zu of %zu findings: --table advice --top 0", shown, count);
}
