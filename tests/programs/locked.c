/* SPDX-License-Identifier: Apache-2.0 */
/* locked.c — says what recording takes of a program's memory.
 *
 * locked resident COUNT: locks all that it will map (mlockall), records COUNT ranges by two sites
 * and names, and prints by how many kB
 *   its resident memory has grown since before the first one.
 * locked address COUNT: the same number of ranges, then allocates 100 MB; exit 1 if it cannot. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <varve/varve.h>

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static long resident_kb(void)
{
    char line[256];
    long kb = -1;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (sscanf(line, "VmRSS: %ld", &kb) == 1)
            break;
    if (status != NULL)
        fclose(status);
    return kb;
}

static void record(long count)
{
    for (long i = 0; i < count; i++) {
        varve_begin(&work);
        if (i % 1000 == 0) {
            varve_begin_name("a name", VARVE_LAYER_OP);
            varve_end();
        }
        varve_end();
    }
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    bool is_locked = strcmp(argv[1], "resident") == 0;
    if (is_locked && mlockall(MCL_CURRENT | MCL_FUTURE) != 0)
        return 77;
    long before_kb = resident_kb();
    record(atol(argv[2]));
    if (is_locked)
        printf("%ld\n", resident_kb() - before_kb);
    return is_locked || malloc(100000000) != NULL ? 0 : 1;
}
