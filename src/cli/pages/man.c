/* SPDX-License-Identifier: Apache-2.0 */
/* man.c — writes manual pages in roff's man macros, from the tables of verbs and options. The build
 * calls `varve help --man VERB`. */
#include <ctype.h>
#include <string.h>

#include "cli/pages/find_verb.h"
#include "cli/pages/help.h"
#include "varve/varve.h"

#define PAGE_DATE "2026-11-21" /* date of the release: pages do not depend on the build */

/* Writes one line of text; characters that roff would take as a request, an escape or a hyphen are
 * quoted. */
static void put_text(FILE *stream, const char *text)
{
    if (*text == '.' || *text == '\'')
        fputs("\\&", stream);
    for (; *text != '\0'; text++) {
        if (*text == '\\')
            fputs("\\e", stream);
        else if (*text == '-')
            fputs("\\-", stream);
        else if (*text == '~')
            fputs("\\(ti", stream);
        else
            putc(*text, stream);
    }
}

static void put_line(FILE *stream, const char *text)
{
    put_text(stream, text);
    putc('\n', stream);
}

/* Writes a paragraph, with one sentence on each line, as roff wants it. */
static void put_paragraph(FILE *stream, const char *text)
{
    while (*text != '\0') {
        const char *end = strstr(text, ". ");
        size_t length = end != NULL ? (size_t)(end - text) + 1 : strlen(text);
        char sentence[600];
        snprintf(sentence, sizeof sentence, "%.*s", (int)length, text);
        put_line(stream, sentence);
        text += length + strspn(text + length, " ");
    }
}

static void put_head(FILE *stream, const char *page, const char *summary)
{
    fputs(".TH ", stream);
    for (const char *c = page; *c != '\0'; c++)
        *c == '-' ? fputs("\\-", stream) : putc(toupper((unsigned char)*c), stream);
    fprintf(stream, " 1 \"%s\" \"varve %d.%d.%d\" \"Varve manual\"\n", PAGE_DATE,
            VARVE_VERSION_MAJOR, VARVE_VERSION_MINOR, VARVE_VERSION_PATCH);
    fputs(".SH NAME\n", stream);
    put_text(stream, page);
    fputs(" \\- ", stream);
    put_line(stream, summary);
}

static void put_synopsis(FILE *stream, const struct vv_verb *verb)
{
    fprintf(stream, ".B varve %s\n.RI [ options ]\n", verb->name);
    if (*verb->operands != '\0')
        put_line(stream, verb->operands);
}

static void put_options(FILE *stream, const struct vv_verb *verb, bool shared)
{
    char name[80], text[300];
    for (int row = 0; row < VV_OPTION_COUNT; row++) {
        if (!vv_verb_shows(verb, row) || vv_option_is_shared(verb, row) != shared)
            continue;
        vv_help_option_name(&vv_options[row], name, sizeof name);
        vv_help_option_text(verb, row, text, sizeof text);
        fputs(".TP\n.B ", stream);
        put_line(stream, name);
        put_line(stream, text);
    }
}

static void put_examples(FILE *stream, const struct vv_verb *verb)
{
    fputs(".SH EXAMPLES\n", stream);
    for (const struct vv_example *example = verb->examples; example->command != NULL; example++) {
        fputs(".TP\n.B ", stream);
        put_line(stream, example->command);
        put_line(stream, example->says);
    }
}

static void put_exits(FILE *stream, const struct vv_verb *verb)
{
    fputs(".SH EXIT STATUS\n", stream);
    if (verb->exits_as_program)
        fputs("The exit code of the program, or:\n", stream);
    for (const struct vv_exit_meaning *exit = vv_help_exits(verb); exit->meaning != NULL; exit++) {
        fprintf(stream, ".TP\n.B %d\n", exit->code);
        put_line(stream, exit->meaning);
    }
}

static void put_files(FILE *stream)
{
    fputs(".SH FILES\n.TP\n.I PROGRAM.varve\nA trace: a folder with a manifest and a folder for "
          "each process."
          "\nIt is a CTF 1.8 trace, which other tools read too.\n"
          ".TP\n.I PROGRAM.varve.old\nThe trace of that name before.\n"
          ".TP\n.I PREFIX/share/doc/varve/*.md\nThe documents, README.md first: formats, metrics, "
          "Python, marking.\nPREFIX is the folder above that of the program.\n",
          stream);
}

/* Lists all other pages. */
static void put_see_also(FILE *stream, const struct vv_verb *verbs, const struct vv_verb *self)
{
    fputs(".SH SEE ALSO\n", stream);
    bool is_first = self == NULL;
    if (self != NULL)
        fputs(".BR varve (1)", stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        if (verb == self)
            continue;
        fprintf(stream, "%s.BR varve\\-%s (1)", is_first ? "" : " ,\n", verb->name);
        is_first = false;
    }
    putc('\n', stream);
}

void vv_man_verb(FILE *stream, const struct vv_verb *verbs, const struct vv_verb *verb)
{
    char page[64];
    snprintf(page, sizeof page, "varve-%s", verb->name);
    put_head(stream, page, verb->summary);
    fputs(".SH SYNOPSIS\n", stream);
    put_synopsis(stream, verb);
    fputs(".SH DESCRIPTION\n", stream);
    put_paragraph(stream, verb->description);
    fputs(".SH OPTIONS\n", stream);
    put_options(stream, verb, false);
    put_options(stream, verb, true);
    fputs(".PP\nThe default stands in brackets.\n", stream);
    put_exits(stream, verb);
    put_files(stream);
    put_examples(stream, verb);
    put_see_also(stream, verbs, verb);
}

void vv_man_overview(FILE *stream, const struct vv_verb *verbs)
{
    put_head(stream, "varve", "operator-level profiler for machine-learning programs");
    fputs(".SH SYNOPSIS\n.B varve\n.I verb\n.RI [ options ]\n.RI [ operands ]\n"
          ".SH DESCRIPTION\nVarve records what a machine\\-learning program does, operator by "
          "operator and step by step,\nand says where the time went.\nIts verbs, each with a page "
          "of its own:\n",
          stream);
    for (const struct vv_verb *verb = verbs; verb->name != NULL; verb++) {
        fprintf(stream, ".TP\n.B %s\n", verb->name);
        put_line(stream, verb->summary);
    }
    fputs(
        ".SH ENVIRONMENT\n"
        ".TP\n.B VARVE_LIBRARY\nPath of libvarve.so, where it is not beside varve nor installed.\n"
        ".TP\n.B VARVE_PAGER\\fR, \\fBPAGER\nPages long text on a terminal; cat pages nothing.\n"
        ".TP\n.B NO_COLOR\nSet and not empty: no colour unless \\-\\-color always.\n"
        ".TP\n.B COLUMNS\nThe width of the terminal.\n"
        ".TP\n.B LC_ALL\\fR, \\fBLANG\nNot read: text is UTF-8. In a container, in a cron job and "
        "under sudo no locale\nis set, and terminals show UTF-8 all the same.\n",
        stream);
    put_exits(stream, vv_verb_find(verbs, "report"));
    fputs(".PP\nThose of\n.B varve record\nstand in its own page.\n", stream);
    put_files(stream);
    fputs(".SH EXAMPLES\n.TP\n.B varve record \\-\\- python train.py\nrun and record; writes "
          "train.varve\n"
          ".TP\n.B varve report\nwhere the time went\n",
          stream);
    put_see_also(stream, verbs, NULL);
}
