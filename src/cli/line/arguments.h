/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — one table of options, one of verbs; parser, help, completions and man pages read them.
 *
 * An option is a row of vv_options; a verb lists the rows it takes, and any other is refused with the verb's
 * name. Values land in struct vv_arguments, by the row's offset. */
#ifndef VV_CLI_LINE_ARGUMENTS_H
#define VV_CLI_LINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text/nearest.h"

/* Exit codes (doc/errors.md). `record` returns the program's own, or 125, 126, 127. */
enum vv_exit {
    VV_EXIT_DONE = 0,
    VV_EXIT_NO = 1,        /* done, and the answer is no: --strict found loss …                 */
    VV_EXIT_USAGE = 2,     /* the command line is wrong                                         */
    VV_EXIT_INPUT = 3,     /* the input cannot be read                                          */
    VV_EXIT_OUTPUT = 4,    /* the output cannot be written                                      */
    VV_EXIT_LACKING = 5,   /* this machine or build lacks what was asked                        */
    VV_EXIT_OURS = 70,     /* our bug                                                           */
    VV_EXIT_RECORD = 125,  /* `record` itself failed                                            */
    VV_EXIT_NOT_EXECUTABLE = 126,
    VV_EXIT_NO_PROGRAM = 127
};

/* Every option there is: their rows in vv_options. */
enum vv_option_row {
    VV_OPTION_NONE = -1,         /* ends a list of rows                                         */
    VV_OPTION_HELP, VV_OPTION_QUIET, VV_OPTION_VERBOSE, VV_OPTION_COLOR,
    VV_OPTION_FORMAT, VV_OPTION_JSON, VV_OPTION_CSV, VV_OPTION_MD, VV_OPTION_UNIT, VV_OPTION_OUTPUT,
    VV_OPTION_STRICT, VV_OPTION_TABLE, VV_OPTION_MAX_MEMORY, VV_OPTION_CACHE, VV_OPTION_NO_CACHE, VV_OPTION_FOR,
    VV_OPTION_STEPS, VV_OPTION_STEP_BY, VV_OPTION_WARM_UP, VV_OPTION_THREAD, VV_OPTION_RANK, VV_OPTION_DEVICE,
    VV_OPTION_FILTER,
    VV_OPTION_BY, VV_OPTION_SORT, VV_OPTION_TOP, VV_OPTION_FIELDS,
    VV_OPTION_COMPAT,
    VV_OPTION_FAIL_OVER,
    VV_OPTION_ANNOTATION, VV_OPTION_INSTANCE, VV_OPTION_SCALE,
    VV_OPTION_TO, VV_OPTION_UNPACK, VV_OPTION_LAYERS, VV_OPTION_COLLECT,
    VV_OPTION_PYTHON_MODULES, VV_OPTION_PYTHON_DEPTH,
    VV_OPTION_PAUSED, VV_OPTION_SCHEDULE, VV_OPTION_MAX_SIZE, VV_OPTION_WHEN_FULL, VV_OPTION_KEEP,
    VV_OPTION_RESERVE, VV_OPTION_SHARE,
    VV_OPTION_DUMP_ON, VV_OPTION_PID, VV_OPTION_DURATION, VV_OPTION_DRY_RUN, VV_OPTION_PEAKS, VV_OPTION_ALL, VV_OPTION_MAN,
    VV_OPTION_COUNT
};

struct vv_arguments {
    /* every verb */
    bool help, quiet;
    const char *color;          /* "auto", "always", "never"                                    */
    /* verbs that print tables */
    const char *format;         /* "text", "json", "csv", "md"                                  */
    bool json, csv, md;         /* short for --format json, --format csv, --format md           */
    const char *unit;           /* "auto", "ns", "us", "ms", "s"                                */
    const char *output;         /* -o; NULL = standard output, or the verb's default            */
    bool strict;                /* loss in the trace becomes exit code 1                        */
    const char *table;          /* which table only; NULL = the verb's all                      */
    const char *main_table;     /* the verb's, of which --fields speaks otherwise; NULL = none  */
    /* verbs that read traces */
    const char *max_memory;     /* "4GB"; NULL = three quarters of the machine's                */
    bool cache, no_cache;       /* keep what was read beside it, whatever its size; never        */
    const char *consumer;       /* validate: "hta", "perfetto" …; "all"                         */
    /* which part of the trace */
    const char *steps;          /* "A..B", "A", NULL = all                                      */
    const char *step_by;        /* "NAME", "..NAME"; NULL = as recorded, or the usual marks     */
    bool warm_up;               /* warm-up steps count too                                      */
    const char *thread;         /* name or tid, "all", NULL = the verb's default                */
    const char *rank;           /* "3", "0,2..5"; NULL = all                                    */
    const char *device;         /* "cuda:0", "0"; NULL = all                                    */
    /* operators */
    const char *by;             /* "op", "name", "shape", "thread", "phase"                     */
    const char *sort;           /* a column of the table                                        */
    int64_t top;                /* rows; 0 = all                                                */
    const char *fields;         /* "a,b", "+c,-d"; NULL = default                               */
    const char *filter;         /* an expression over slices; NULL = not said                   */
    const char *compat;         /* "hta"; NULL = our own rules                                  */
    /* diff */
    const char *fail_over;      /* "5%"; NULL = never                                           */
    /* critical path */
    const char *annotation;     /* name of a range; "" = everything; NULL = a step               */
    int64_t instance;           /* which of them                                                */
    const char *scale;          /* "4", "OP=4;OP=1.5"                                            */
    /* export */
    const char *to;             /* "chrome"                                                     */
    /* pack */
    bool unpack;
    /* record */
    const char *layers;         /* "all" or names with commas                                   */
    const char *collect;        /* "auto", or as settings/sources.h has it                     */
    const char *python_modules; /* globs with commas; NULL = all                                */
    int64_t python_depth;       /* 0 = any                                                      */
    bool dry_run, verbose, paused;
    const char *max_size;       /* "2GB"; NULL = no limit                                       */
    const char *when_full;      /* "drop-newest", "grow", "drop-oldest"; NULL = not said        */
    const char *keep;           /* "10s", "64MB"; NULL = everything                             */
    const char *reserve;        /* "2GB", "10%"; NULL = the standard                            */
    bool share;                 /* others may read the trace                                    */
    const char *dump_on;        /* "SIGUSR2"; NULL = none                                       */
    const char *pid;            /* of a process that runs already; NULL = begin one             */
    const char *duration;       /* "5s"; NULL = until it is told to end                         */
    const char *schedule;       /* "skip=1,warmup=1,active=3,repeat=2"; NULL = all steps         */
    /* doctor */
    bool peaks;                 /* measure them                                                 */
    /* help */
    bool all, man;
    /* pages about the command itself */
    const struct vv_verb *verbs; /* every one, ended by a NULL name: main says them              */
    /* what is left */
    char **operands;            /* traces, a verb's name, a shell's name, PROGRAM ARGS          */
    size_t operand_count;
    bool operands_after_dashes; /* "--" stood before them                                       */
    bool said[VV_OPTION_COUNT]; /* by row: it stood on the command line                         */
};

enum vv_value_kind { VV_VALUE_FLAG, VV_VALUE_TEXT, VV_VALUE_INT, VV_VALUE_CHOICE, VV_VALUE_FILE };

struct vv_option {
    const char *name;           /* long name, without dashes                                    */
    const char *also;           /* another long name, which is not shown; NULL = none           */
    char letter;                /* short name, or 0                                             */
    enum vv_value_kind kind;
    const char *value;          /* "FILE", "N" …; NULL for flags                                */
    const char *const *choices; /* NULL-terminated, for VV_VALUE_CHOICE and for completions     */
    const char *standard;       /* default as the user would type it; NULL = none               */
    const char *help;           /* one line; NULL = not shown, not completed                    */
    size_t offset;              /* in struct vv_arguments, or whatever it is parsed into        */
};

/* A verb's list of rows, which may name one twice. */
#define VV_TAKES(...) (const enum vv_option_row[]) { __VA_ARGS__, VV_OPTION_NONE }
#define VV_TAKES_ALWAYS VV_OPTION_HELP, VV_OPTION_QUIET, VV_OPTION_COLOR
#define VV_TAKES_READING VV_OPTION_MAX_MEMORY, VV_OPTION_CACHE, VV_OPTION_NO_CACHE, VV_OPTION_STRICT
#define VV_TAKES_FORMS VV_OPTION_FORMAT, VV_OPTION_JSON, VV_OPTION_CSV, VV_OPTION_MD, VV_OPTION_OUTPUT
#define VV_TAKES_TABLES VV_TAKES_FORMS, VV_OPTION_UNIT, VV_OPTION_TABLE

struct vv_example { const char *command, *says; };

/* What a verb's operands are, for completions. */
enum vv_operands { VV_OPERANDS_FILES, VV_OPERANDS_NONE, VV_OPERANDS_PROGRAM, VV_OPERANDS_VERB, VV_OPERANDS_SHELL };

/* A verb at work, vv_cmd_NAME in cmd_NAME.c; the exit code. Parses nothing, calls one analysis, prints. Errors go to
 * standard error as "varve: SENTENCE" and, on further lines indented by two, the next thing to type. */
typedef int vv_run_verb(const struct vv_arguments *arguments);

struct vv_verb {
    const char *name;
    const char *group;          /* heading of the overview: "Look"                              */
    const char *summary;        /* one line: "where the time went"                              */
    const char *operands;       /* "[TRACE]", "-- PROGRAM [ARG…]"                               */
    enum vv_operands operand_kind;
    bool exits_as_program;      /* its exit code is that of the program it runs, or 125, 126, 127 */
    const char *description;    /* a paragraph for help and man page                            */
    const enum vv_option_row *takes; /* VV_TAKES                                                */
    const char *output;         /* what -o means to it; NULL = as the option's row says         */
    const char *table;          /* the one that --fields and --sort speak of; NULL = none       */
    const struct vv_example *examples; /* ended by a NULL command                               */
    vv_run_verb *run;
};

/* options.c */
extern const struct vv_option vv_options[VV_OPTION_COUNT];
bool vv_verb_takes(const struct vv_verb *verb, int row);
bool vv_verb_shows(const struct vv_verb *verb, int row); /* in help, man page and completions */
const char *vv_verb_option_help(const struct vv_verb *verb, int row); /* what the option means to it */

/* verbs.c; ended by a NULL name. It leads to every verb, so a verb that asks for the others has them from its arguments. */
extern const struct vv_verb vv_verbs[];

/* What a command line is parsed by: a table of any number of options. Each value lands at its row's offset from
 * `values`; said[row] becomes true where the option stood on the line. */
struct vv_line {
    const struct vv_option *options;
    int option_count;
    void *values;
    bool *said;
};

/* parse.c: argv[0] is the verb. On failure the message is one line for the user. */
enum varve_code vv_line_parse(const struct vv_line *line, const struct vv_verb *verb, int argc, char **argv,
                              int *out_first_operand, struct varve_error *error);
enum varve_code vv_arguments_parse(const struct vv_verb *verb, int argc, char **argv,
                                   struct vv_arguments *out_arguments, struct varve_error *error);
/* Prints "varve: MESSAGE" and returns the exit code that fits error->code. report_error.c */
int vv_complain(const struct varve_error *error);
/* The same for a verb that reads and writes traces: the exit code says whether it was the writing that failed. */
int vv_complain_writing(const struct varve_error *error);

/* The trace a verb means that takes one: the operand, or the newest *.varve here (said on standard error
 * unless quiet). *out_path belongs to the caller (free). locate.c */
enum varve_code vv_locate_trace(const struct vv_arguments *arguments, char **out_path,
                                struct varve_error *error);

#endif
