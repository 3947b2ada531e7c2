/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h — what table "advice" is made of, for whoever makes several tables at once. */
#ifndef VV_ANALYSE_ADVICE_ADVICE_H
#define VV_ANALYSE_ADVICE_ADVICE_H

#include "question/question.h"

#define VV_ADVICE_TABLES_MAX 18u

/* Returns how many tables `advice` is made of, each once. */
size_t vv_advice_tables(vv_analyse_fn *out_tables[VV_ADVICE_TABLES_MAX]);

/* Does this table say all that `advice` wants of it, when it answers this question? */
bool vv_advice_can_use(vv_analyse_fn *table, const struct vv_question *question);

#endif
