/* SPDX-License-Identifier: Apache-2.0 */
/* python.c — an audit hook tells when a module was imported: then a library that we wait for may be there. The hook
 * cannot be taken back, is called with the interpreter's lock held, and does next to nothing. */
#include "collect/python.h"

#include <dlfcn.h>
#include <string.h>

#include "collect/collectors.h"

typedef int hook_fn(const char *event, void *arguments, void *state);

static int hear(const char *event, void *arguments, void *state)
{
    (void)arguments;
    (void)state;
    if (strcmp(event, "import") == 0)
        vv_collectors_look();
    return 0;
}

void vv_python_begin(void)
{
    /* Legal before the interpreter exists. 3.8 has it too, and is left alone: it lacks what call tracing needs. */
    int (*add_hook)(hook_fn *, void *);
    void *symbol = dlsym(RTLD_DEFAULT, "PySys_AddAuditHook");
    if (symbol == NULL) {
        dlerror();
        return;
    }
    memcpy(&add_hook, &symbol, sizeof add_hook);
    add_hook(hear, NULL);
}
