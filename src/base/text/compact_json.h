/* SPDX-License-Identifier: Apache-2.0 */
/* compact_json.h — steps over the values of a text of compact JSON whose brackets match; all else
 * in it may be wrong. Thread-safe. */
#ifndef VV_BASE_TEXT_COMPACT_JSON_H
#define VV_BASE_TEXT_COMPACT_JSON_H

/* The place behind the value at `at`: a comma, the bracket that closes what is around it, or the
 * end of the text. */
const char *vv_json_pass(const char *at);

#endif
