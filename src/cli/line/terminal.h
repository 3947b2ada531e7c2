/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h — what the other end of a descriptor can show. */
#ifndef VV_CLI_LINE_TERMINAL_H
#define VV_CLI_LINE_TERMINAL_H

#include <stdbool.h>

/* To the beginning of the line, and away with what stands on it. */
#define VV_TERMINAL_ERASE "\r\033[K"
bool vv_terminal_can_erase(void); /* by TERM */

/* Escape sequences may go there: `when` is "auto", "always" or "never"; auto heeds NO_COLOR, TERM. */
bool vv_terminal_has_color(int descriptor, const char *when);
/* Columns and rows of the terminal; 0 = not known. COLUMNS and LINES go before what it says itself. */
int vv_terminal_width(int descriptor);
int vv_terminal_height(int descriptor);

#endif
