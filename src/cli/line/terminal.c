/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define SIZE_MAX_SENSIBLE 10000

bool vv_terminal_can_erase(void)
{
    const char *term = getenv("TERM");
    return term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

bool vv_terminal_has_color(int descriptor, const char *when)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (when != NULL && strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return (no_color == NULL || *no_color == '\0') && (term == NULL || strcmp(term, "dumb") != 0) &&
           isatty(descriptor);
}

static int from_environment(const char *name)
{
    const char *text = getenv(name);
    char *end;
    long value = text != NULL ? strtol(text, &end, 10) : 0;
    return text != NULL && *end == '\0' && value > 0 && value <= SIZE_MAX_SENSIBLE ? (int)value : 0;
}

int vv_terminal_width(int descriptor)
{
    struct winsize size;
    int width = from_environment("COLUMNS");
    if (width > 0)
        return width;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int vv_terminal_height(int descriptor)
{
    struct winsize size;
    int height = from_environment("LINES");
    if (height > 0)
        return height;
    return ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}
