/* SPDX-License-Identifier: Apache-2.0 */
#include "settings/dump_signal.h"

#include <signal.h>
#include <stddef.h>

#include "base/system/signal_name.h"

enum varve_code vv_dump_signal_parse(const char *text, int *out_signal, struct varve_error *error)
{
    static const int fatal[] = { SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP,
                                 SIGABRT, SIGSYS };
    int signal = vv_signal_parse(text);
    if (signal <= 0)
        VV_FAIL(error, VARVE_INVALID, "'%.60s' is no signal: write a name, such as SIGUSR2", text);
    for (size_t i = 0; i < sizeof fatal / sizeof fatal[0]; i++)
        if (fatal[i] == signal)
            VV_FAIL(error, VARVE_INVALID,
                    "'%.60s' stops a program, or says that it has failed: write a signal that "
                    "asks for something, such as SIGUSR2",
                    text);
    *out_signal = signal;
    return VARVE_OK;
}
