/* SPDX-License-Identifier: Apache-2.0 */
/* harmless.h — text of unknown origin made fit for a terminal: one definition for tables, sentences and JSON.
 *
 * Names, paths and messages come from traces, from other users' processes and from folders that anybody may write. A terminal obeys
 * some of their bytes: control characters (C0, DEL, C1), bytes that are no UTF-8, and marks that turn the order of
 * what follows (bidirectional formatting) or end the line. Each of them becomes U+FFFD. Async-signal-safe. */
#ifndef VV_BASE_TEXT_HARMLESS_H
#define VV_BASE_TEXT_HARMLESS_H

#include <stdbool.h>
#include <stddef.h>

#define VV_REPLACEMENT "\xEF\xBF\xBD" /* U+FFFD */

/* The bytes of the first character of `text`, 1 at the least, and whether it may go to a terminal as it is. length > 0. */
size_t vv_harmless_first(const char *text, size_t length, bool *out_harmless);

/* Copies `text`, what is not harmless replaced; `out` has room for 3 * length bytes. Returns how many were written. */
size_t vv_harmless_copy(const char *text, size_t length, char *out);

/* Writes "varve: TEXT" as one line on standard error by one system call; a text of more than 512 bytes is cut. For who has
 * no stream: libvarve, in a program that asked for it. */
void vv_harmless_tell(const char *text);

#endif
