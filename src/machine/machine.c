/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/machine.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

/* False if the kernel does not say it. */
static bool processor_name(char *out_name, size_t capacity)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "re");
    bool found = false;
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        found = value != NULL && strncmp(line, "model name", 10) == 0;
        if (found)
            snprintf(out_name, capacity, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (file != NULL)
        fclose(file);
    return found;
}

void vv_machine_name(char *out_name, size_t capacity)
{
    /* Cached, because the kernel needs longer to make this file than varve needs for a whole
       manifest. */
    static _Thread_local char name[256];
    struct utsname names;
    if (name[0] == '\0' && !processor_name(name, sizeof name) && uname(&names) == 0)
        snprintf(name, sizeof name, "%s", names.machine);
    snprintf(out_name, capacity, "%s", name);
}

int64_t vv_machine_cpus(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN);
}
