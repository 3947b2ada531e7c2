/* SPDX-License-Identifier: Apache-2.0 */
/* sandboxed.c — a program that forbids itself nearly all, and then ends with status 7.
 *
 * sandboxed WAY [FOLDER]: `seccomp`: from then on every system call but exit_group and exit kills;
 * `tsc`: reading the time stamp counter does; `stopped`: it records a session into FOLDER, ends it,
 * and goes on as `seccomp`; `recorded`: it records a range, and then all calls kill but those that
 * doc/threading.md says the end of a process needs. Status 77: this kernel or machine has no such
 * thing. */
#include <stdlib.h>
#include <string.h>
#include <varve/varve.h>

#include "sandbox.h"

VARVE_SITE(site, "range", VARVE_LAYER_OP);

static int forbid_the_counter(void)
{
#ifdef PR_SET_TSC
    return prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) == 0 ? 7 : 77;
#else
    return 77;
#endif
}

static void record_a_session(const char *folder)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    options.output = folder;
    if (varve_session_start(&options, NULL) != VARVE_OK)
        exit(98);
    varve_begin(&site);
    varve_end();
    if (varve_session_stop(NULL) != VARVE_OK)
        exit(99);
}

static int end_recorded(void)
{
    static const unsigned needed[] = {
        SYS_clock_gettime, SYS_close,    SYS_fstat,    SYS_getpid,         SYS_gettid,
        SYS_madvise,       SYS_munmap,   SYS_openat,   SYS_newfstatat,     SYS_prctl,
        SYS_pwrite64,      SYS_renameat, SYS_unlinkat, SYS_rt_sigprocmask,
    };
    varve_begin(&site);
    varve_end();
    return sandbox_enter_with(needed, sizeof needed / sizeof needed[0]) ? 7 : 77;
}

int main(int argc, char **argv)
{
    if (argc == 3)
        record_a_session(argv[2]);
    if (argc > 1 && strcmp(argv[1], "recorded") == 0)
        return end_recorded();
    return argc > 1 && strcmp(argv[1], "tsc") == 0 ? forbid_the_counter()
           : sandbox_enter()                       ? 7
                                                   : 77;
}
