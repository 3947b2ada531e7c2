/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/signal_name.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>

#define DIGITS_MAX 3

/* Signals without a name in the C library; some machines lack some of them. */
static const struct {
    const char *name;
    int number;
} others[] = {
    { "IOT", SIGIOT },
    { "POLL", SIGPOLL },
#ifdef SIGCLD
    { "CLD", SIGCLD },
#endif
};

/* A whole number of at most three digits; -1 if the text is something else. */
static int number_of(const char *text)
{
    int number = 0, digits = 0;
    for (; text[digits] >= '0' && text[digits] <= '9' && digits <= DIGITS_MAX; digits++)
        number = number * 10 + (text[digits] - '0');
    return digits > 0 && digits <= DIGITS_MAX && text[digits] == '\0' ? number : -1;
}

/* Reads what follows RTMIN or RTMAX: nothing, or `sign` and a number. -1 for anything else. */
static int distance_of(const char *text, char sign)
{
    if (*text == '\0')
        return 0;
    return *text == sign ? number_of(text + 1) : -1;
}

static int real_time(const char *name)
{
    int from_min = strncasecmp(name, "RTMIN", 5) == 0 ? distance_of(name + 5, '+') : -1;
    int from_max = strncasecmp(name, "RTMAX", 5) == 0 ? distance_of(name + 5, '-') : -1;
    int number = from_min >= 0 ? SIGRTMIN + from_min : from_max >= 0 ? SIGRTMAX - from_max : 0;
    return number >= SIGRTMIN && number <= SIGRTMAX ? number : 0;
}

int vv_signal_parse(const char *text)
{
    int number = number_of(text);
    if (number >= 0)
        return (number > 0 && number < NSIG && sigabbrev_np(number) != NULL) ||
                       (number >= SIGRTMIN && number <= SIGRTMAX)
                   ? number
                   : 0;
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (number = 1; number < NSIG; number++) {
        const char *known = sigabbrev_np(number);
        if (known != NULL && strcasecmp(known, name) == 0)
            return number;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcasecmp(others[i].name, name) == 0)
            return others[i].number;
    return real_time(name);
}
