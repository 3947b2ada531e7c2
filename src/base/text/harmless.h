/* SPDX-License-Identifier: Apache-2.0 */
/* harmless.h — makes text of unknown origin safe for a terminal. Tables, messages and JSON use this
 * one definition.
 *
 * Names, paths and messages come from traces, from processes of other users, and from folders that
 * anybody may write to. A terminal obeys some bytes: control characters (C0, DEL, C1), bytes that
 * are not UTF-8, and characters that reverse the text after them (bidirectional formatting) or end
 * the line. Each of them becomes U+FFFD. Async-signal-safe. */
#ifndef VV_BASE_TEXT_HARMLESS_H
#define VV_BASE_TEXT_HARMLESS_H

#include <stdbool.h>
#include <stddef.h>

#define VV_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* Returns the number of bytes of the first character of `text`, at least 1. *out_harmless: may the
 * character go to a terminal unchanged? length > 0. */
size_t vv_harmless_first(const char *text, size_t length, bool *out_harmless);

/* Copies `text` and replaces each harmful character. `out` has room for 3 * length bytes. Returns
 * the number of bytes written. */
size_t vv_harmless_copy(const char *text, size_t length, char *out);

/* Writes "varve: TEXT" as one line on standard error, with one system call. A text of more than 512
 * bytes is cut. For code without a stream: libvarve, in a program that asked for messages. */
void vv_harmless_tell(const char *text);

#endif
