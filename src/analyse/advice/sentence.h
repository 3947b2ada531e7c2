/* SPDX-License-Identifier: Apache-2.0 */
/* sentence.h — the sentences of findings: texts with the cells of a row in them. */
#ifndef VV_ANALYSE_ADVICE_SENTENCE_H
#define VV_ANALYSE_ADVICE_SENTENCE_H

#include "sheet/sheet.h"

#define VV_SENTENCE_BYTES 500u

/* Writes the form with each "{column}" replaced by that cell of the row, and "{share}" by the
 * share. What stands in [ ] is left out if one of its cells is empty, and a rank is left out unless
 * there are several. A name that is too long is cut, after whole characters. */
void vv_sentence_write(const char *form, const struct vv_sheet *sheet, size_t row, double share,
                       bool has_ranks, char out_text[VV_SENTENCE_BYTES]);

#endif
