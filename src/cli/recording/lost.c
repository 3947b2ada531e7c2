/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/lost.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/line/say.h"
#include "sheet/number.h"

static const struct { int os_errno; const char *next; } ways_on[] = {
    { EFBIG, "the shell's ulimit -f leaves no room for a file of 64 KiB: raise it" },
    { ENOSPC, "the disk was full: -o NAME.varve names another place" },
    { EDQUOT, "the quota was reached: -o NAME.varve names another place" },
    { EMFILE, "no descriptor was left to it: raise the shell's ulimit -n" },
    { ENFILE, "no descriptor was left on this machine" },
    { EACCES, "it had given up the right to write there: run varve record as the user it becomes" },
    { EPERM, "it had given up the right to write there: run varve record as the user it becomes" },
    { EROFS, "it sees the trace's place without the right to write: -o NAME.varve names another" },
    { ENOENT, "it sees no such place, or the trace was removed: -o NAME.varve names another" },
};

void vv_record_lost_why(const struct vv_lost *lost, char *out_text, size_t capacity)
{
    const char *why = lost->os_errno != 0 ? strerrordesc_np(lost->os_errno) : NULL;
    out_text[0] = '\0';
    if (lost->records > 0)
        snprintf(out_text, capacity, "could make no folder%s%s", why != NULL ? ": " : "",
                 why != NULL ? why : "");
}

void vv_record_lost_say(const struct vv_lost *lost)
{
    char records[VV_NUMBER_BYTES], processes[40] = "a process", why[160];
    const char *next = "";
    if (lost->is_damaged)
        vv_say("the file '" VV_LOST_FILE
               "' in the trace is damaged: how much was lost before is not known");
    if (lost->records == 0)
        return;
    vv_number_count((int64_t)lost->records, records, sizeof records);
    vv_record_lost_why(lost, why, sizeof why);
    if (lost->processes > 1)
        snprintf(processes, sizeof processes, "%" PRIu64 " processes", lost->processes);
    for (size_t i = 0; i < sizeof ways_on / sizeof *ways_on; i++)
        if (ways_on[i].os_errno == lost->os_errno)
            next = ways_on[i].next;
    vv_say("%s records were lost by %s that %s%s%s", records, processes, why,
           next[0] != '\0' ? "; " : "", next);
}
