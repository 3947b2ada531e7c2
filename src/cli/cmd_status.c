/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_status.c — varve status: what is recorded now, and how much it is. */
#include <stdio.h>
#include <string.h>

#include "cli/line/arguments.h"
#include "cli/line/say.h"
#include "cli/reading/output.h"
#include "cli/recording/recorded_processes.h"
#include "ctf/count_records.h"

enum { PID, PROGRAM, LAYERS, SCHEDULE, EVENTS, LOST, FILE_NAME, COLUMNS };

static const struct vv_sheet_column columns[COLUMNS] = {
    [PID] = { .name = "pid", .title = "pid", .type = VV_CELL_INT },
    [PROGRAM] = { .name = "program", .title = "program", .type = VV_CELL_TEXT },
    [LAYERS] = { .name = "layers", .title = "layers", .type = VV_CELL_TEXT },
    [SCHEDULE] = { .name = "schedule", .title = "schedule", .type = VV_CELL_TEXT, .hidden = true },
    [EVENTS] = { .name = "events", .title = "events", .type = VV_CELL_INT, .unit = VV_UNIT_COUNT },
    [LOST] = { .name = "lost", .title = "lost", .type = VV_CELL_INT, .unit = VV_UNIT_COUNT },
    [FILE_NAME] = { .name = "file", .title = "file", .type = VV_CELL_TEXT },
};

/* Adds what the control page says. If it cannot be read, the cells stay empty and the user is
 * told. */
static enum varve_code add_control(struct vv_sheet *sheet, size_t row,
                                   const struct vv_recorded *recorded, struct varve_error *error)
{
    struct vv_control_access access;
    struct varve_error why;
    char layers[VV_LAYERS_TEXT_BYTES];
    if (vv_control_access_open(recorded, false, &access, &why) != VARVE_OK) {
        vv_say("%s", why.message);
        return VARVE_OK;
    }
    vv_layers_text(__atomic_load_n(&access.page->layers, __ATOMIC_RELAXED), layers);
    bool counts = (__atomic_load_n(&access.page->steps, __ATOMIC_RELAXED) & VV_STEPS_COUNTED) != 0;
    vv_control_access_close(&access);
    VV_TRY(vv_sheet_text(sheet, row, LAYERS, layers, error));
    return vv_sheet_text(sheet, row, SCHEDULE, counts ? "counting steps" : "none", error);
}

static void add_tally(struct vv_sheet *sheet, size_t row, const struct vv_recorded *recorded)
{
    struct varve_error why;
    uint64_t events, lost;
    if (vv_tally_process(recorded->folder, &events, &lost, &why) != VARVE_OK) {
        vv_say("%s", why.message);
        return;
    }
    vv_sheet_int(sheet, row, EVENTS, (int64_t)events);
    vv_sheet_int(sheet, row, LOST, (int64_t)lost);
}

static enum varve_code fill(struct vv_sheet *sheet, const struct vv_recorded_list *list,
                            struct varve_error *error)
{
    for (size_t i = 0; i < list->count; i++) {
        size_t row;
        VV_TRY(vv_sheet_row(sheet, VV_ROW_PLAIN, &row, error));
        vv_sheet_int(sheet, row, PID, list->items[i].pid);
        VV_TRY(vv_sheet_text(sheet, row, PROGRAM, list->items[i].program, error));
        VV_TRY(add_control(sheet, row, &list->items[i], error));
        add_tally(sheet, row, &list->items[i]);
        VV_TRY(vv_sheet_text(sheet, row, FILE_NAME, list->items[i].folder, error));
    }
    return VARVE_OK;
}

vv_run_verb vv_cmd_status;

int vv_cmd_status(const struct vv_arguments *arguments)
{
    struct vv_recorded_list list = { 0 };
    struct vv_sheet sheet;
    const struct vv_sheet *const sheets[] = { &sheet };
    struct varve_error error;
    enum varve_code code = VARVE_OK;
    vv_sheet_init(&sheet, "processes", "PROCESSES", columns, COLUMNS);
    if (arguments->operand_count > 1)
        code = vv_fail(&error, VARVE_INVALID, "one process at a time: after '%.60s' came '%.60s'",
                       arguments->operands[0], arguments->operands[1]);
    if (code == VARVE_OK)
        code = vv_recorded_find(arguments->operand_count > 0 ? arguments->operands[0] : NULL, &list,
                                &error);
    if (code == VARVE_OK)
        code = fill(&sheet, &list, &error);
    int status;
    if (code != VARVE_OK)
        status = vv_print_error(&error);
    else if (list.count == 0 && vv_cli_for_people(arguments)) {
        if (!arguments->quiet)
            vv_say("no process is being recorded. Begin one:  varve record -- PROGRAM");
        status = VV_EXIT_DONE;
    } else
        status = vv_cli_print(arguments, "status", NULL, sheets, 1);
    vv_sheet_deinit(&sheet);
    vv_recorded_deinit(&list);
    return status;
}
