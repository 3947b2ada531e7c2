/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/interruption.h"

#include <stddef.h>

volatile sig_atomic_t vv_interruption;

static void note_signal(int number)
{
    vv_interruption = number;
}

void vv_interruption_watch(void)
{
    static const int numbers[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction former, action = { .sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND };
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
            sigaction(numbers[i], &action, NULL);
}
