/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_help.c — varve help: prints the overview, one verb, everything, or a page for man. */
#include <string.h>

#include "cli/find_verb.h"
#include "cli/help.h"
#include "cli/reading/output.h"

static int print_page(const struct vv_arguments *arguments)
{
    const char *name = arguments->operand_count > 0 ? arguments->operands[0] : "varve";
    const struct vv_verb *verbs = arguments->verbs, *verb = vv_verb_find(verbs, name);
    bool is_tables = strcmp(name, "tables") == 0, is_rules = strcmp(name, "rules") == 0;
    bool is_overview = arguments->operand_count == 0 || strcmp(name, "varve") == 0;
    if (verb == NULL && !is_overview && !is_tables && !is_rules)
        return vv_verb_unknown(verbs, name);
    if (is_tables)
        vv_help_tables(stdout);
    else if (is_rules)
        vv_help_rules(stdout);
    else if (arguments->man && is_overview)
        vv_man_overview(stdout, verbs);
    else if (arguments->man)
        vv_man_verb(stdout, verbs, verb);
    else if (arguments->all)
        vv_help_all(stdout, verbs);
    else if (is_overview)
        vv_help_overview(stdout, verbs);
    else
        vv_help_verb(stdout, verb);
    return vv_cli_flush(VV_EXIT_DONE);
}

vv_run_verb vv_cmd_help;

int vv_cmd_help(const struct vv_arguments *arguments)
{
    struct varve_error error;
    if (arguments->operand_count > 1) {
        (void)vv_fail(&error, VARVE_INVALID, "help wants one verb: after '%.60s' came '%.60s'",
                      arguments->operands[0], arguments->operands[1]);
        return vv_print_error(&error);
    }
    return print_page(arguments);
}
