/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h — what a rule of table "advice" is: data. `varve help rules` lists all of them.
 *
 * A rule reads only cells of tables that a user can print, too. In texts, "{column}" stands for
 * that cell of the row that was found, and "{share}" for the share. What stands in [ ] is left out
 * if it names a cell that is empty. */
#ifndef VV_ANALYSE_ADVICE_RULES_RULES_H
#define VV_ANALYSE_ADVICE_RULES_RULES_H

#include "meaning/platform.h"
#include "question/question.h"

#define VV_OF_STEPS "(steps)" /* as `whole`: the time of the steps                                */

#define VV_ITS_NAMES "name=='{name}'" /* as `filter`: of each operator that counts, || between   */

/* Rows of a table, and how much of something they are. */
struct vv_measure {
    vv_analyse_fn *table;      /* NULL = nothing is measured                                     */
    const char *key, *value;   /* rows whose text column `key` is like `value`, which may have *
                                  and ?, and several patterns with | between; NULL = every row   */
    const char *part, *whole;  /* columns: the share is part / whole; whole NULL: part is a share,
                                  or a number that is compared as it is                          */
    double least;              /* least share that is a finding                                  */
    enum { VV_EACH_ROW,        /* the row with the greatest share counts …                       */
           VV_ALL_ROWS,        /* … or the sum over the rows; the greatest is quoted             */
           VV_REST_OF_ROW      /* the share is 1 - part / whole                                  */
    } of;
};

/* The row of a table that shows why: of those that count, the one with the largest `order`. */
struct vv_evidence {
    vv_analyse_fn *table;
    const char *key, *value;   /* as above                                                       */
    const char *order;         /* column                                                         */
    const char *same;          /* only rows with the finding's number in this column; NULL       */
    const char *says;
    double weight;             /* multiplies `order` where evidences are compared; 0 = 1         */
    const char *cause;         /* only for a finding whose cell `cause` is like this; NULL = any  */
    const char *remedy;        /* what to try then; NULL = that of `rule`                         */
    const char *rule;          /* another rule, whose remedy fits, too; NULL = the finding's own  */
    bool is_its;               /* rows of this cause are no finding where `rule`, which is further
                                  up, speaks                                                     */
};

/* What a trace must have, looked for before any table is made. */
enum vv_rule_needs { VV_NEEDS_NOTHING, VV_NEEDS_MODULES, VV_NEEDS_DOUBLES, VV_NEEDS_SECOND_PASSES };

struct vv_rule {
    const char *name;
    const char *unless;        /* another rule, further up: if it speaks, this one is silent     */
    const char *bound;         /* `bound_by` of table verdict: the rule is asked only where …    */
    double bound_least;        /* … that has this share of the steps; NULL = always              */
    struct vv_measure is;      /* the row with the greatest share is the finding                 */
    enum vv_rule_needs needs;
    const char *by;            /* what a row is in `is` and `why`: "shape"; NULL = as usual */
    struct vv_measure also;    /* if some row holds this, asked first; table NULL = nothing more */
    struct vv_measure besides; /* and this …                                                     */
    struct vv_measure or_besides; /* … or this                                                   */
    struct vv_measure never;   /* if some row holds this, the rule is silent                     */
    double weight;             /* multiplies the share where findings of rules are compared      */
    const char *saves;         /* column: the time of the steps that mending saves at most; NULL */
    double saves_part;         /* … of it                                                        */
    struct vv_measure saves_too; /* and `part` of these rows; table NULL = nothing more          */
    const char *of_steps;      /* column: in how many steps that time passed; NULL = in all      */
    const char *says;
    struct vv_evidence why;    /* says NULL = none                                               */
    struct vv_evidence or_why; /* instead, where its `order` is larger                           */
    struct vv_evidence or_else; /* and so on                                                     */
    const struct vv_evidence *by_cause; /* more of them; the last has no table                   */
    const char *remedy;        /* what to try, by the setting's name; NULL = none                */
    /* The same on that platform; NULL = no other one. */
    const char *remedy_xla, *remedy_ascend, *remedy_opencl, *remedy_cuda, *remedy_host;
    const char *remedy_iree; /* NULL = none there                                                */
    const char *see;           /* command that prints the evidence, without filter and trace     */
    const char *filter;        /* of that command; VV_ITS_NAMES; NULL = none                     */
    const char *because;       /* why the limit is where it is, and whose rule it is             */
};

/* All rules, those of one subject together. */
size_t vv_rules_count(void);
const struct vv_rule *vv_rule_at(size_t number);
const struct vv_rule *vv_rule_named(const char *name); /* NULL = there is none                   */

/* What to try there, or NULL. */
const char *vv_rule_remedy(const struct vv_rule *rule, enum vv_platform platform);

#define VV_RULE_SUBJECTS(X)                                           \
    X(trust) X(steps) X(host) X(slow_steps) X(threads) X(device)     \
    X(memory) X(communication) X(throttling)
#define VV_RULE_LIST(subject)                         \
    extern const struct vv_rule vv_rules_##subject[]; \
    extern const size_t vv_rules_##subject##_count;
VV_RULE_SUBJECTS(VV_RULE_LIST)
#undef VV_RULE_LIST

#endif
