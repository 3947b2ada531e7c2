/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_switch.c — the common code of `varve start` and `varve stop`. */
#include <stdio.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/recording/recorded_processes.h"
#include "ctf/metadata_write.h"

/* *out_layers is set for a start alone. */
static enum varve_code check(const struct vv_arguments *arguments, bool is_start,
                             uint32_t *out_layers, struct varve_error *error)
{
    const char *verb = is_start ? "start" : "stop";
    if (arguments->operand_count == 0)
        VV_FAIL(error, VARVE_INVALID,
                "%s wants a process: varve %s PID, or the name of its program. Those being "
                "recorded:  varve status",
                verb, verb);
    if (arguments->operand_count > 1)
        VV_FAIL(error, VARVE_INVALID, "one process at a time: after '%.60s' came '%.60s'",
                arguments->operands[0], arguments->operands[1]);
    if (is_start)
        VV_TRY_NOTE(vv_layers_parse(arguments->layers, out_layers, error), error, "--layers");
    return VARVE_OK;
}

static void say(const struct vv_recorded *recorded, uint32_t former, uint32_t layers)
{
    char was[VV_LAYERS_TEXT_BYTES], is[VV_LAYERS_TEXT_BYTES];
    int pid = (int)recorded->pid;
    size_t length;
    const char *trace = vv_recorded_trace(recorded, &length);
    vv_layers_text(former, was);
    vv_layers_text(layers, is);
    if (former == layers)
        vv_say("%d (%s) was %s already", pid, recorded->program,
                layers == 0 ? "stopped" : "recorded like that");
    else if (layers == 0)
        vv_say("stopped %d (%s), which recorded %s", pid, recorded->program, was);
    else
        vv_say("recording %s of %d (%s) into %.*s", is, pid, recorded->program, (int)length,
                trace);
}

/* Records `layers` from now on; without --layers, a start records those that the process wants. */
static enum varve_code switch_one(const struct vv_arguments *arguments,
                                  const struct vv_recorded *recorded, bool is_start,
                                  uint32_t layers, struct varve_error *error)
{
    struct vv_control_access access;
    VV_TRY(vv_control_access_open(recorded, true, &access, error));
    if (is_start && !arguments->said[VV_OPTION_LAYERS])
        layers = access.page->wanted & VARVE_LAYER_ALL;
    uint32_t former = vv_control_page_switch(access.page, access.file, layers);
    vv_control_access_close(&access);
    if (!arguments->quiet)
        say(recorded, former, layers);
    return VARVE_OK;
}

/* If a name matches several processes and one cannot be switched, the user is told and the others
 * are switched. */
int vv_recorded_switch(const struct vv_arguments *arguments, bool is_start)
{
    struct vv_recorded_list list = { 0 };
    struct varve_error error;
    int status = VV_EXIT_DONE;
    uint32_t layers = 0;
    enum varve_code code = check(arguments, is_start, &layers, &error);
    if (code == VARVE_OK)
        code = vv_recorded_find(arguments->operands[0], &list, &error);
    if (code != VARVE_OK)
        status = vv_print_error(&error);
    for (size_t i = 0; code == VARVE_OK && i < list.count; i++)
        if (switch_one(arguments, &list.items[i], is_start, layers, &error) != VARVE_OK)
            status = vv_print_error(&error);
    vv_recorded_deinit(&list);
    return status;
}
