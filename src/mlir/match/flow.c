/* SPDX-License-Identifier: Apache-2.0 */
/* flow.c — goes through a function as if it ran, from its arguments on: into the functions that it
 * calls, and into the bodies of its loops. So an operation of a function that is called twice is
 * made from the arguments of either call.
 *
 * A value that a loop only hands on is what came in. Of any other one the body sees what comes in
 * at the first turn, and behind the loop there is what the body gives back after it. XLA's program
 * is read by the same rules (mlir/hlo/arguments.c). Names of values belong to their function, so
 * each call has names of its own; a name of a region that has ended is not asked for again. */
#include <string.h>

#include "mlir/match/flow.h"
#include "mlir/module/cursor.h"

enum { DEPTH_MAX = 16 };

struct made {
    uint64_t value[VV_MLIR_ARGUMENT_WORDS]; /* the argument that it is, in another form          */
    uint64_t far[VV_MLIR_ARGUMENT_WORDS], parts[VV_MLIR_ARGUMENT_WORDS];
    uint32_t owner;                         /* text: path of the module whose weight it is; 0    */
};

/* What a name means, in one run of its function. */
struct meaning { uint32_t run, first, count; };

struct names { struct meaning *of; size_t capacity; }; /* by name                               */

struct flow {
    struct vv_mlir_matching *matching;
    uint32_t *end_row;        /* by op: the first row that is not inside it                      */
    uint32_t *function_named; /* by string of the module; VV_MLIR_NONE                           */
    struct made *made;
    size_t made_count, made_capacity;
    struct names names[DEPTH_MAX]; /* of functions that are running, by depth                   */
    uint32_t run[DEPTH_MAX], runs;
    unsigned depth, loops;
    uint64_t left;            /* operations that may still be visited                            */
};

struct list { uint32_t *rows; size_t count, capacity; }; /* rows in made                         */

static enum varve_code visit_all(struct flow *flow, uint32_t row, uint32_t end,
                                 struct varve_error *error);

/* ---- names ---- */

static enum varve_code mean(struct flow *flow, struct vv_mlir_span name, uint32_t first,
                            uint32_t count, struct varve_error *error)
{
    struct names *names = &flow->names[flow->depth];
    size_t former = names->capacity;
    uint32_t id;
    VV_TRY(vv_intern_add(flow->matching->value_names, flow->matching->module->text + name.begin,
                         name.end - name.begin, &id, error));
    VV_TRY(VV_SCRATCH_RESERVE(flow->matching->scratch, &names->of, &names->capacity,
                              (size_t)id + 1, error));
    if (names->capacity > former)
        memset(names->of + former, 0, (names->capacity - former) * sizeof *names->of);
    names->of[id] = (struct meaning){ flow->run[flow->depth], first, count };
    return VARVE_OK;
}

/* The row in made; VV_MLIR_NONE. */
static uint32_t meant(const struct flow *flow, struct vv_mlir_span name, uint32_t number)
{
    const struct names *names = &flow->names[flow->depth];
    uint32_t id = vv_intern_find(flow->matching->value_names,
                                 flow->matching->module->text + name.begin,
                                 name.end - name.begin);
    if (id >= names->capacity || names->of[id].run != flow->run[flow->depth] ||
        number >= names->of[id].count)
        return VV_MLIR_NONE;
    return names->of[id].first + number;
}

/* The next "%name" or "%name#2" in text[*at..end), outside of strings. */
static bool next_name(const struct vv_mlir_module *module, uint64_t *at, uint64_t end,
                      struct vv_mlir_span *out_name, uint32_t *out_number)
{
    const char *text = module->text;
    while (*at < end && text[*at] != '%')
        *at = text[*at] == '"' ? vv_mlir_string_end(text, *at, end) : *at + 1;
    if (*at >= end)
        return false;
    out_name->begin = *at;
    *at = out_name->end = vv_mlir_name_end(text, *at + 1, end);
    *out_number = 0;
    if (*at < end && text[*at] == '#')
        for ((*at)++; *at < end && vv_mlir_is_digit(text[*at]) && *out_number < 1000000; (*at)++)
            *out_number = *out_number * 10 + (uint32_t)(text[*at] - '0');
    return true;
}

/* Does `sign` stand behind the name? */
static bool has_behind(const struct vv_mlir_module *module, uint64_t at, uint64_t end, char sign)
{
    at = vv_mlir_skip_blanks(module->text, at, end);
    return at < end && module->text[at] == sign;
}

static enum varve_code add_row(struct flow *flow, struct list *list, uint32_t row,
                               struct varve_error *error)
{
    VV_TRY(VV_SCRATCH_RESERVE(flow->matching->scratch, &list->rows, &list->capacity,
                              list->count + 1, error));
    list->rows[list->count++] = row;
    return VARVE_OK;
}

static enum varve_code add_made(struct flow *flow, struct made made, uint32_t *out_row,
                                struct varve_error *error)
{
    if (flow->made_count >= VV_MLIR_NONE - 1)
        VV_FAIL(error, VARVE_LIMIT, "more values than 2^32-2");
    VV_TRY(VV_SCRATCH_RESERVE(flow->matching->scratch, &flow->made, &flow->made_capacity,
                              flow->made_count + 1, error));
    *out_row = (uint32_t)flow->made_count;
    flow->made[flow->made_count++] = made;
    return VARVE_OK;
}

/* Names in text[at..end) with ':' behind them: arguments of a function or a block. They mean the
 * rows, in order; those that have none mean nothing. */
static enum varve_code name_arguments(struct flow *flow, uint64_t at, uint64_t end,
                                      const struct list *list, struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    struct vv_mlir_span name;
    uint32_t number;
    size_t count = 0;
    while (next_name(module, &at, end, &name, &number)) {
        if (!has_behind(module, at, end, ':'))
            continue;
        bool is_known = count < list->count && list->rows[count] != VV_MLIR_NONE;
        VV_TRY(mean(flow, name, is_known ? list->rows[count] : 0, is_known, error));
        count++;
    }
    return VARVE_OK;
}

/* Where a block's label begins in text[at..end), "^bb0(%arg0: t):"; `end` if there is none. */
static uint64_t label_at(const struct vv_mlir_module *module, uint64_t at, uint64_t end)
{
    while (at < end && module->text[at] != '^')
        at = module->text[at] == '"' ? vv_mlir_string_end(module->text, at, end) : at + 1;
    return at;
}

/* The results of an operation mean the rows; with a list of one row, all of them mean that. */
static enum varve_code name_results(struct flow *flow, uint32_t op, const struct list *list,
                                    struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    const struct vv_mlir_op *row = &module->ops[op];
    struct vv_mlir_span name;
    uint32_t number, from = 0;
    uint64_t at = row->text.begin;
    while (next_name(module, &at, row->name_at, &name, &number)) {
        uint32_t count = 1, first = (uint32_t)flow->made_count;
        if (at < row->name_at && module->text[at] == ':')
            for (count = 0, at++; at < row->name_at && vv_mlir_is_digit(module->text[at]) &&
                                  count < 1000000; at++)
                count = count * 10 + (uint32_t)(module->text[at] - '0');
        count = count < row->results ? count : row->results;
        if (count == 1 && list->count == 1 && list->rows[0] != VV_MLIR_NONE) {
            VV_TRY(mean(flow, name, list->rows[0], 1, error));
            continue;
        }
        for (uint32_t i = 0, made; i < count; i++, from++) {
            uint32_t of = list->count == 1   ? list->rows[0]
                          : from < list->count ? list->rows[from] : VV_MLIR_NONE;
            struct made copy = { .owner = 0 };
            if (of != VV_MLIR_NONE)
                copy = flow->made[of];
            VV_TRY(add_made(flow, copy, &made, error));
        }
        VV_TRY(mean(flow, name, first, count, error));
    }
    return VARVE_OK;
}

/* ---- an operation ---- */

static void take_owner(struct vv_mlir_anchor *anchor, uint32_t owner, bool *is_mixed)
{
    *is_mixed |= anchor->owner != 0 && owner != 0 && anchor->owner != owner;
    if (owner != 0)
        anchor->owner = owner;
}

/* What the operands say. Those of an operation in a region of the anchor's say what it depends on
 * besides. */
static void take_operands(const struct flow *flow, uint32_t op, bool is_inside,
                          struct vv_mlir_anchor *anchor)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint64_t at = module->ops[op].name_at, end = vv_mlir_operands_end(&module->ops[op]);
    struct vv_mlir_span name;
    uint32_t number;
    bool is_mixed = false, is_form = vv_mlir_is_form(flow->matching, op);
    while (next_name(module, &at, end, &name, &number)) {
        uint32_t row = meant(flow, name, number);
        if (row == VV_MLIR_NONE)
            continue;
        vv_mlir_add_arguments(anchor->of.far, flow->made[row].far);
        if (is_inside)
            continue;
        vv_mlir_add_arguments(anchor->of.near, flow->made[row].value);
        if (is_form)
            vv_mlir_add_arguments(anchor->of.parts, flow->made[row].parts);
        else
            vv_mlir_add_part(anchor->of.parts, flow->made[row].far);
        take_owner(anchor, flow->made[row].owner, &is_mixed);
    }
    if (is_mixed)
        anchor->owner = 0;
}

/* Operations in regions that are no loop's. What they define means nothing outside. */
static enum varve_code take_regions(struct flow *flow, uint32_t op, struct vv_mlir_anchor *anchor,
                                    struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    const struct list none = { .count = 0 };
    uint64_t gap = module->ops[op].body_at;
    for (uint32_t row = op + 1; row < flow->end_row[op]; row++) {
        uint64_t begin = module->ops[row].text.begin;
        if (gap < begin)
            VV_TRY(name_arguments(flow, label_at(module, gap, begin), begin, &none, error));
        take_operands(flow, row, true, anchor);
        VV_TRY(name_results(flow, row, &none, error));
        gap = flow->end_row[row] > row + 1 ? module->ops[row].body_at : module->ops[row].text.end;
    }
    return VARVE_OK;
}

/* ---- calls ---- */

static enum varve_code list_operands(struct flow *flow, uint32_t op, struct list *out,
                                     struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint64_t at = module->ops[op].name_at, end = vv_mlir_operands_end(&module->ops[op]);
    struct vv_mlir_span name;
    uint32_t number;
    while (next_name(module, &at, end, &name, &number))
        VV_TRY(add_row(flow, out, meant(flow, name, number), error));
    return VARVE_OK;
}

static uint32_t last_child(const struct flow *flow, uint32_t op)
{
    uint32_t last = VV_MLIR_NONE;
    for (uint32_t row = op + 1; row < flow->end_row[op]; row = flow->end_row[row])
        last = row;
    return last;
}

/* Runs the function with these arguments. What it gives back is put into `out`. */
static enum varve_code run_function(struct flow *flow, uint32_t function,
                                    const struct list *arguments, struct list *out,
                                    struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint32_t first = function + 1, end = flow->end_row[function];
    uint64_t begin = module->ops[function].name_at;
    flow->run[flow->depth] = ++flow->runs;
    VV_TRY(name_arguments(flow, begin, first < end ? module->ops[first].text.begin
                                                   : module->ops[function].text.end,
                          arguments, error));
    VV_TRY(visit_all(flow, first, end, error));
    uint32_t last = last_child(flow, function);
    return last != VV_MLIR_NONE ? list_operands(flow, last, out, error) : VARVE_OK;
}

/* The function that the operation calls; VV_MLIR_NONE. */
static uint32_t called_by(const struct flow *flow, uint32_t op)
{
    const struct vv_mlir_module *module = flow->matching->module;
    const struct vv_mlir_op *row = &module->ops[op];
    if (row->symbol == 0 || row->body_at != 0 || flow->depth + 1 >= DEPTH_MAX ||
        !vv_mlir_is_call(vv_mlir_string(module, row->name)))
        return VV_MLIR_NONE;
    return flow->function_named[row->symbol];
}

static enum varve_code visit_call(struct flow *flow, uint32_t op, uint32_t function,
                                  struct varve_error *error)
{
    struct list arguments = { .count = 0 }, results = { .count = 0 };
    VV_TRY(list_operands(flow, op, &arguments, error));
    flow->depth++;
    VV_TRY(run_function(flow, function, &arguments, &results, error));
    flow->depth--;
    return name_results(flow, op, &results, error);
}

/* ---- loops ---- */

/* A loop that carries values: stablehlo.while. */
struct loop {
    struct list came, body, gave; /* into the loop; what the body sees; what it gives back       */
    bool is_pretty;               /* "(%name = %value, …)" before its regions                     */
};

static bool is_loop(const struct flow *flow, uint32_t op)
{
    const struct vv_mlir_module *module = flow->matching->module;
    const char *name = vv_mlir_string(module, module->ops[op].name);
    const char *dot = strrchr(name, '.');
    return dot != NULL && strcmp(dot, ".while") == 0 && module->ops[op].body_at != 0 &&
           flow->loops < DEPTH_MAX;
}

/* Does a region end in text[at..end)? */
static bool closes(const struct vv_mlir_module *module, uint64_t at, uint64_t end)
{
    while (at < end && module->text[at] != '}')
        at = module->text[at] == '"' ? vv_mlir_string_end(module->text, at, end) : at + 1;
    return at < end;
}

/* The names that the values have in the body, in order: "%name =" before the regions, or those of
 * the label text[at..end). */
static bool next_carried(const struct loop *loop, const struct vv_mlir_module *module,
                         uint64_t *at, uint64_t end, struct vv_mlir_span *out_name)
{
    uint32_t number;
    while (next_name(module, at, end, out_name, &number))
        if (has_behind(module, *at, end, loop->is_pretty ? '=' : ':'))
            return true;
    return false;
}

/* Which values the body hands on: those that it gives back by the name that they have in it. The
 * others it sees as they come in, but they are no argument's any more. */
static enum varve_code carry(struct flow *flow, struct loop *loop, uint32_t last, uint64_t at,
                             uint64_t end, struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint64_t back = module->ops[last].name_at, back_end = vv_mlir_operands_end(&module->ops[last]);
    struct vv_mlir_span name, given;
    uint32_t number, row;
    for (size_t i = 0; i < loop->came.count; i++) {
        bool is_named = next_carried(loop, module, &at, end, &name);
        bool is_given = next_name(module, &back, back_end, &given, &number);
        struct made first = { .owner = 0 };
        row = loop->came.rows[i];
        if (row != VV_MLIR_NONE && !(is_named && is_given && name.end - name.begin ==
                                     given.end - given.begin &&
                                     memcmp(module->text + name.begin, module->text + given.begin,
                                            name.end - name.begin) == 0)) {
            memcpy(first.far, flow->made[row].far, sizeof first.far);
            VV_TRY(add_made(flow, first, &row, error));
        }
        VV_TRY(add_row(flow, &loop->body, row, error));
    }
    return VARVE_OK;
}

static enum varve_code name_carried(struct flow *flow, const struct loop *loop, uint64_t at,
                                    uint64_t end, struct varve_error *error)
{
    struct vv_mlir_span name;
    for (size_t i = 0; next_carried(loop, flow->matching->module, &at, end, &name); i++) {
        bool is_known = i < loop->body.count && loop->body.rows[i] != VV_MLIR_NONE;
        VV_TRY(mean(flow, name, is_known ? loop->body.rows[i] : 0, is_known, error));
    }
    return VARVE_OK;
}

/* "%name = %value" before the regions: the values alone; in generic form all operands. */
static enum varve_code list_came(struct flow *flow, uint32_t op, struct loop *loop,
                                 struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint64_t at = module->ops[op].name_at, end = module->ops[op].body_at;
    struct vv_mlir_span name;
    uint32_t number;
    loop->is_pretty = module->text[at] != '"';
    while (next_name(module, &at, end, &name, &number))
        if (!loop->is_pretty || !has_behind(module, at, end, '='))
            VV_TRY(add_row(flow, &loop->came, meant(flow, name, number), error));
    return VARVE_OK;
}

/* Condition and body, one after the other. */
static enum varve_code visit_regions(struct flow *flow, uint32_t op, struct loop *loop,
                                     struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint32_t last = last_child(flow, op), body = VV_MLIR_NONE, row;
    uint64_t gap = module->ops[op].body_at, label = 0, label_end = 0;
    for (row = op + 1; row < flow->end_row[op]; row = flow->end_row[row]) {
        if (row > op + 1 && closes(module, gap, module->ops[row].text.begin)) {
            body = row;
            label = label_at(module, gap, module->ops[row].text.begin);
            label_end = module->ops[row].text.begin;
        }
        gap = module->ops[row].text.end;
    }
    if (body == VV_MLIR_NONE)
        return VARVE_OK;
    if (loop->is_pretty) {
        label = module->ops[op].name_at;
        label_end = module->ops[op].body_at;
    }
    VV_TRY(carry(flow, loop, last, label, label_end, error));
    uint64_t begin = module->ops[op].body_at, end = module->ops[op + 1].text.begin;
    VV_TRY(name_carried(flow, loop, loop->is_pretty ? label : label_at(module, begin, end),
                        loop->is_pretty ? label_end : end, error));
    VV_TRY(visit_all(flow, op + 1, body, error));
    VV_TRY(name_carried(flow, loop, label, label_end, error));
    VV_TRY(visit_all(flow, body, flow->end_row[op], error));
    return list_operands(flow, last, &loop->gave, error);
}

static enum varve_code visit_loop(struct flow *flow, uint32_t op, struct varve_error *error)
{
    struct loop loop = { .came = { .count = 0 } };
    VV_TRY(list_came(flow, op, &loop, error));
    flow->loops++;
    VV_TRY(visit_regions(flow, op, &loop, error));
    flow->loops--;
    for (size_t i = 0; i < loop.gave.count; i++) {
        struct made after = { .owner = 0 };
        uint32_t row = loop.gave.rows[i];
        if (row == VV_MLIR_NONE || (i < loop.body.count && row == loop.body.rows[i]))
            continue;
        memcpy(after.far, flow->made[row].far, sizeof after.far);
        VV_TRY(add_made(flow, after, &loop.gave.rows[i], error));
    }
    return name_results(flow, op, &loop.gave, error);
}

/* ---- all ---- */

static enum varve_code visit(struct flow *flow, uint32_t op, struct varve_error *error)
{
    struct vv_mlir_anchor anchor = { .next = 0 };
    struct made made = { .owner = 0 };
    uint32_t function = called_by(flow, op), row;
    const struct list result = { .rows = &row, .count = 1 };
    bool goes_in = is_loop(flow, op);
    take_operands(flow, op, false, &anchor);
    if (flow->matching->module->ops[op].body_at != 0 && !goes_in)
        VV_TRY(take_regions(flow, op, &anchor, error));
    VV_TRY(vv_mlir_read_owner(flow->matching, op, &made.owner, error));
    if (vv_mlir_is_form(flow->matching, op)) {
        memcpy(made.value, anchor.of.near, sizeof made.value);
        made.owner = anchor.owner;
    }
    memcpy(made.far, anchor.of.far, sizeof made.far);
    memcpy(made.parts, anchor.of.parts, sizeof made.parts);
    if (goes_in)
        memset(anchor.of.near, 0, sizeof anchor.of.near);
    VV_TRY(vv_mlir_add_anchor(flow->matching, op, &anchor, error));
    if (function != VV_MLIR_NONE)
        return visit_call(flow, op, function, error);
    if (goes_in)
        return visit_loop(flow, op, error);
    VV_TRY(add_made(flow, made, &row, error));
    return name_results(flow, op, &result, error);
}

static enum varve_code visit_all(struct flow *flow, uint32_t row, uint32_t end,
                                 struct varve_error *error)
{
    for (; row < end && flow->left > 0; row = flow->end_row[row]) {
        flow->left--;
        VV_TRY(visit(flow, row, error));
    }
    return VARVE_OK;
}

static enum varve_code prepare(struct flow *flow, struct varve_error *error)
{
    struct vv_mlir_matching *matching = flow->matching;
    const struct vv_mlir_module *module = matching->module;
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &flow->end_row, module->op_count, error));
    VV_TRY(VV_SCRATCH_ARRAY(matching->scratch, &flow->function_named, module->strings.count,
                            error));
    memset(flow->function_named, 0xff, module->strings.count * sizeof *flow->function_named);
    for (uint32_t op = module->op_count; op-- > 0;) {
        uint32_t end = op + 1;
        while (end < module->op_count && module->ops[end].text.begin < module->ops[op].text.end)
            end = flow->end_row[end];
        flow->end_row[op] = end;
        if (vv_mlir_is_function(module, op))
            flow->function_named[module->ops[op].symbol] = op;
    }
    flow->left = 4 * (uint64_t)module->op_count + 65536;
    return VARVE_OK;
}

/* The arguments of the program, each of its number. */
static enum varve_code list_arguments(struct flow *flow, uint32_t function, struct list *out,
                                      struct varve_error *error)
{
    const struct vv_mlir_module *module = flow->matching->module;
    uint32_t first = function + 1, number, row;
    uint64_t at = module->ops[function].name_at;
    uint64_t end = first < flow->end_row[function] ? module->ops[first].text.begin
                                                   : module->ops[function].text.end;
    struct vv_mlir_span name;
    while (next_name(module, &at, end, &name, &number)) {
        struct made made = { .owner = 0 };
        if (!has_behind(module, at, end, ':'))
            continue;
        vv_mlir_add_argument(made.value, out->count);
        vv_mlir_add_argument(made.far, out->count);
        VV_TRY(add_made(flow, made, &row, error));
        VV_TRY(add_row(flow, out, row, error));
    }
    return VARVE_OK;
}

enum varve_code vv_mlir_flow(struct vv_mlir_matching *matching, const struct vv_mlir_ops *entries,
                             struct varve_error *error)
{
    struct flow flow = { .matching = matching };
    VV_TRY(prepare(&flow, error));
    for (size_t i = 0; i < entries->count; i++) {
        struct list arguments = { .count = 0 }, results = { .count = 0 };
        VV_TRY(list_arguments(&flow, entries->items[i], &arguments, error));
        VV_TRY(run_function(&flow, entries->items[i], &arguments, &results, error));
    }
    return VARVE_OK;
}
