/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.h — what the terminal behind a descriptor can show. */
#ifndef VV_CLI_LINE_TERMINAL_H
#define VV_CLI_LINE_TERMINAL_H

#include <stdbool.h>

/* Moves to the begin of the line, and erases the line. */
#define VV_TERMINAL_ERASE "\r\033[K"
bool vv_terminal_can_erase(void); /* by TERM */

/* May escape sequences be written there? `when` is "auto", "always" or "never"; auto respects
 * NO_COLOR and TERM. */
bool vv_terminal_has_color(int descriptor, const char *when);
/* Columns and rows of the terminal; 0 = not known. COLUMNS and LINES override the terminal's own
 * numbers. */
int vv_terminal_width(int descriptor);
int vv_terminal_height(int descriptor);

#endif
