/* SPDX-License-Identifier: Apache-2.0 */
/* privileged.c — tries every way to record, and prints what came of it: "secure N" (the kernel's
 * AT_SECURE), then a line for each way: its name, a code of error.h, and the layers recorded after
 * it.
 *
 * privileged FOLDER */
#include <stdio.h>
#include <sys/auxv.h>

#include "varve/control.h"
#include "varve/varve.h"

VARVE_SITE(work, "work", VARVE_LAYER_OP);

static void say(const char *way, enum varve_code code)
{
    varve_begin(&work);
    varve_begin_name("a name", VARVE_LAYER_OP);
    varve_end();
    varve_end();
    printf("%s %d %u\n", way, (int)code, varve_layers());
}

int main(int argc, char **argv)
{
    struct varve_session_options options = VARVE_SESSION_OPTIONS_INIT;
    struct varve_profiling_config *config = NULL;
    if (argc != 2)
        return 2;
    options.output = argv[1];
    printf("secure %lu\n", getauxval(AT_SECURE));
    say("environment", VARVE_OK);
    say("session", varve_session_start(&options, NULL));
    varve_session_stop(NULL);
    say("init", varve_profiling_init(argv[1], NULL));
    varve_profiling_config_create(NULL, &config, NULL);
    say("start", varve_profiling_start(config, NULL));
    varve_profiling_stop(config, NULL);
    varve_profiling_finalize(NULL);
    varve_profiling_config_destroy(config, NULL);
    say("collect", varve_collect("auto", NULL));
    say("options", varve_profiling_init_options("{\"output\": \"x.varve\"}", NULL));
    return 0;
}
