/* SPDX-License-Identifier: Apache-2.0 */
#include "base/system/signal_handler.h"

#include <signal.h>
#include <stddef.h>

/* The flags stay when the kernel resets a handler with SA_RESETHAND to the default action. */
static bool has_handler(const struct sigaction *action)
{
    return (action->sa_flags & (int)SA_RESETHAND) != 0 ||
           (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN);
}

bool vv_may_be_in_signal_handler(void)
{
    sigset_t blocked;
    if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) != 0)
        return true;
    for (int number = 1; number <= SIGRTMAX; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0) /* one of libc's own */
            continue;
        bool is_deferred = (action.sa_flags & SA_NODEFER) == 0 || number == SIGFPE;
        if (has_handler(&action) && (!is_deferred || sigismember(&blocked, number) == 1))
            return true;
    }
    return false;
}
