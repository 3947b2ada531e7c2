/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — the command: finds the verb, parses its words, and runs it. */
#include <signal.h>
#include <string.h>

#include "base/error.h"
#include "cli/pages/find_verb.h"
#include "cli/pages/help.h"
#include "cli/line/heap.h"
#include "cli/line/say.h"
#include "cli/line/stack.h"
#include "cli/reading/output.h"

static const char *verb_name(const char *word)
{
    static const char *const spellings[][2] = {
        { "--version", "version" }, { "-V", "version" }, { "--help", "help" }, { "-h", "help" },
    };
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings; i++)
        if (strcmp(word, spellings[i][0]) == 0)
            return spellings[i][1];
    return word;
}

/* A script takes the exit code of `record` for the program's; so for a wrong command line it is
 * 125. */
static int refuse(const struct vv_verb *verb, const struct varve_error *error)
{
    int status = vv_print_error(error);
    if (vv_error_next(error) != VV_NEXT_IS_SAID)
        vv_say_more("what it takes:  varve help %s", verb->name);
    return verb->exits_as_program ? VV_EXIT_RECORD : status;
}

static void on_file_limit(int number)
{
    (void)number;
}

/* Under `ulimit -f` a write that does not fit fails, and the command says so or does without the
 * file. A handler, because exec takes it back: a recorded program begins as it was called. */
static void outlive_file_limit(void)
{
    const struct sigaction action = { .sa_handler = on_file_limit };
    struct sigaction former;
    if (sigaction(SIGXFSZ, NULL, &former) == 0 && former.sa_handler == SIG_DFL)
        sigaction(SIGXFSZ, &action, NULL);
}

static int answer(int argc, char **argv)
{
    struct vv_arguments arguments;
    struct varve_error error;
    if (argc < 2) {
        vv_help_overview(stdout, vv_verbs);
        return vv_cli_flush(VV_EXIT_DONE);
    }
    const struct vv_verb *verb = vv_verb_find(vv_verbs, verb_name(argv[1]));
    if (verb == NULL)
        return vv_verb_unknown(vv_verbs, argv[1]);
    if (vv_arguments_parse(verb, argc - 1, argv + 1, &arguments, &error) != VARVE_OK)
        return refuse(verb, &error);
    if (arguments.help) {
        struct vv_cli_page page;
        vv_cli_page_begin(&page);
        vv_help_verb(page.stream, verb);
        return vv_cli_page_end(&page);
    }
    arguments.verbs = vv_verbs;
    return verb->run(&arguments);
}

int main(int argc, char **argv)
{
    vv_heap_keep();
    outlive_file_limit();
    return vv_stack_run(answer, argc, argv);
}
