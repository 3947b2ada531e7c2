/* SPDX-License-Identifier: Apache-2.0 */
/* self_record.c — a program that records itself, in several sessions.
 *
 * self_record FOLDER SESSIONS: session i (from 0) records i + 1 ranges "inside", each with a mark,
 * and ends with one range "left open" that the stop closes. Between the sessions it makes ranges
 * "outside", which no trace may hold. It prints the code of each call of varve_session_start and
 * varve_session_stop, one a line, the wrong calls (a second start, a second stop) included. */
#include <stdio.h>
#include <stdlib.h>

#include "varve/varve.h"

VARVE_SITE(inside, "inside", VARVE_LAYER_OP);
VARVE_SITE(left_open, "left open", VARVE_LAYER_OP);
VARVE_SITE(outside, "outside", VARVE_LAYER_OP);
VARVE_SITE(instant, "instant", VARVE_LAYER_OP);

static void say(const char *call, enum varve_code code)
{
    printf("%s %d\n", call, (int)code);
}

static void make_outside(void)
{
    varve_begin(&outside);
    varve_mark(&outside);
    varve_end();
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_error error;
    if (argc != 3) {
        fprintf(stderr, "usage: self_record FOLDER SESSIONS\n");
        return 2;
    }
    options.output = argv[1];
    long sessions = strtol(argv[2], NULL, 10);
    make_outside();
    for (long session = 0; session < sessions; session++) {
        say("start", varve_session_start(&options, &error));
        say("start", varve_session_start(&options, &error));
        for (long i = 0; i <= session; i++) {
            varve_begin(&inside);
            varve_mark(&instant);
            varve_end();
        }
        varve_begin(&left_open);
        say("stop", varve_session_stop(&error));
        make_outside();
    }
    say("stop", varve_session_stop(&error));
    return 0;
}
