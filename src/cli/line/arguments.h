/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.h — the tables of options and of verbs. Parser, help, completions and man pages read
 * them.
 *
 * An option is a row of vv_options. A verb lists the rows that it takes; any other option is
 * refused, with the verb's name. Values are stored in struct vv_arguments, at the row's offset. */
#ifndef VV_CLI_LINE_ARGUMENTS_H
#define VV_CLI_LINE_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/nearest.h"

/* Exit codes (doc/errors.md). `record` returns the program's own code, or 125, 126, 127. */
enum vv_exit {
    VV_EXIT_DONE = 0,
    VV_EXIT_NO = 1,        /* done, but the answer is no: --strict found loss …                 */
    VV_EXIT_USAGE = 2,     /* the command line is wrong                                         */
    VV_EXIT_INPUT = 3,     /* the input cannot be read                                          */
    VV_EXIT_OUTPUT = 4,    /* the output cannot be written                                      */
    VV_EXIT_LACKING = 5,   /* this machine or build does not have what was asked for            */
    VV_EXIT_OURS = 70,     /* a mistake in varve                                                */
    VV_EXIT_RECORD = 125,  /* `record` itself failed                                            */
    VV_EXIT_NOT_EXECUTABLE = 126,
    VV_EXIT_NO_PROGRAM = 127
};

/* All options: their rows in vv_options. */
enum vv_option_row {
    VV_OPTION_NONE = -1,         /* ends a list of rows                                         */
    VV_OPTION_HELP, VV_OPTION_QUIET, VV_OPTION_VERBOSE, VV_OPTION_COLOR,
    VV_OPTION_FORMAT, VV_OPTION_JSON, VV_OPTION_CSV, VV_OPTION_MD, VV_OPTION_UNIT, VV_OPTION_OUTPUT,
    VV_OPTION_STRICT, VV_OPTION_TABLE, VV_OPTION_MAX_MEMORY, VV_OPTION_CACHE, VV_OPTION_NO_CACHE,
    VV_OPTION_FOR,
    VV_OPTION_STEPS, VV_OPTION_STEP_BY, VV_OPTION_WARM_UP, VV_OPTION_THREAD, VV_OPTION_RANK,
    VV_OPTION_DEVICE,
    VV_OPTION_FILTER,
    VV_OPTION_BY, VV_OPTION_SORT, VV_OPTION_TOP, VV_OPTION_FIELDS, VV_OPTION_TOP_SHARE,
    VV_OPTION_SCRIPT, VV_OPTION_CONFIGURATIONS, VV_OPTION_SUBSTITUTES, VV_OPTION_TUNING_SPEC,
    VV_OPTION_COMPAT,
    VV_OPTION_FAIL_OVER,
    VV_OPTION_ANNOTATION, VV_OPTION_INSTANCE, VV_OPTION_SCALE, VV_OPTION_LINK,
    VV_OPTION_OF, VV_OPTION_EDGES, VV_OPTION_AROUND, VV_OPTION_HOPS, VV_OPTION_BREAK_CYCLES,
    VV_OPTION_FORM, VV_OPTION_METRIC, VV_OPTION_COLOURS, VV_OPTION_THEME,
    VV_OPTION_READ, VV_OPTION_ATTR, VV_OPTION_REQUIRE_COVERAGE,
    VV_OPTION_MIN_LEVEL, VV_OPTION_KEY_ATTR, VV_OPTION_EMIT, VV_OPTION_ENGINE, VV_OPTION_MLIR_LIB,
    VV_OPTION_NO_RANGES,
    VV_OPTION_TO, VV_OPTION_UNPACK, VV_OPTION_LAYERS, VV_OPTION_COLLECT,
    VV_OPTION_PYTHON_MODULES, VV_OPTION_PYTHON_DEPTH,
    VV_OPTION_PAUSED, VV_OPTION_SCHEDULE, VV_OPTION_MAX_SIZE, VV_OPTION_WHEN_FULL, VV_OPTION_KEEP,
    VV_OPTION_RESERVE, VV_OPTION_SHARE, VV_OPTION_METRICS, VV_OPTION_METRICS_PERIOD,
    VV_OPTION_DUMP_ON, VV_OPTION_PID, VV_OPTION_DURATION, VV_OPTION_DRY_RUN, VV_OPTION_PEAKS,
    VV_OPTION_IREE, VV_OPTION_IREE_FLAGS, VV_OPTION_FUNCTION, VV_OPTION_INPUT, VV_OPTION_WORK,
    VV_OPTION_LIMIT, VV_OPTION_TOLERANCE, VV_OPTION_TILES, VV_OPTION_TURNS,
    VV_OPTION_ALL, VV_OPTION_MAN,
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
    const char *table;          /* print only this table; NULL = all of the verb's tables       */
    const char *main_table;     /* the verb's table for --fields without --table; NULL = none   */
    /* verbs that read traces */
    const char *max_memory;     /* "4GB"; NULL = three quarters of the machine's                */
    bool cache, no_cache;       /* always keep the model as a cache; never keep it               */
    const char *consumer;       /* validate: "hta", "perfetto" …; "all"                         */
    /* which part of the trace to read */
    const char *steps;          /* "A..B", "A", NULL = all                                      */
    const char *step_by;        /* "NAME", "..NAME"; NULL = recorded steps, or known names      */
    bool warm_up;               /* include warm-up steps                                        */
    const char *thread;         /* name or tid, "all", NULL = the verb's default                */
    const char *rank;           /* "3", "0,2..5"; NULL = all                                    */
    const char *device;         /* "cuda:0", "0"; NULL = all                                    */
    /* operators */
    const char *by;             /* "op", "name", "shape", "thread", "phase"                     */
    const char *sort;           /* a column of the table                                        */
    int64_t top;                /* rows; 0 = all                                                */
    const char *fields;         /* "a,b", "+c,-d"; NULL = default                               */
    const char *filter;         /* an expression over slices; NULL = none                       */
    const char *compat;         /* "hta", "paddle", "msprof"; NULL = Varve's own rules          */
    /* diff */
    const char *fail_over;      /* "5%"; NULL = never                                           */
    const char *link;           /* "16GB/s,10us"; NULL = not known                              */
    /* critical path */
    const char *annotation;     /* name of a range; "" = everything; NULL = a step               */
    int64_t instance;           /* which of these ranges                                        */
    const char *scale;          /* "4", "OP=4;OP=1.5"                                            */
    /* graphs */
    const char *of;             /* "operators", "python" …                                      */
    const char *edges;          /* "data,flow"; NULL = all that are known                       */
    const char *around;         /* a node's name; NULL = the whole graph                        */
    int64_t hops;
    bool break_cycles;
    const char *form;           /* "graphml"; NULL = by the extension of -o                     */
    const char *metric, *colours, *theme;
    /* modules */
    bool read;                  /* print the annotations that are there                         */
    const char *attr;           /* name of an attribute; NULL = in locations                    */
    const char *require_coverage; /* "80%"; NULL = any share                                    */
    const char *min_level;      /* the weakest level of matching; NULL = any                    */
    const char *key_attr;       /* attribute that holds the name of an operation; NULL = none    */
    const char *emit, *engine;  /* "text" …; "auto" …                                           */
    bool no_ranges;             /* locations are written without " to :41"                      */
    const char *mlir_lib;       /* path, or "python"; NULL = none named                         */
    /* hot */
    const char *top_share;      /* "80%"; NULL = the default                                    */
    const char *script;         /* a file to write; NULL = none                                 */
    const char *configurations; /* a folder to read; NULL = none                                */
    const char *substitutes;    /* a folder to write; NULL = none                               */
    const char *tuning_spec;    /* a file to write; NULL = none                                 */
    /* export */
    const char *to;             /* "chrome"                                                     */
    /* pack */
    bool unpack;
    /* record */
    const char *layers;         /* "all" or names with commas                                   */
    const char *collect;        /* "auto", or as in settings/sources.h                         */
    const char *python_modules; /* globs with commas; NULL = all                                */
    int64_t python_depth;       /* 0 = any depth                                                */
    bool dry_run, verbose, paused;
    const char *max_size;       /* "2GB"; NULL = no limit                                       */
    const char *when_full;      /* "drop-newest", "grow", "drop-oldest"; NULL = not given       */
    const char *keep;           /* "10s", "64MB"; NULL = everything                             */
    const char *reserve;        /* "2GB", "10%"; NULL = the default                             */
    const char *metrics;        /* a group of counters, metrics of GPUs; NULL = none            */
    const char *metrics_period; /* "100ms"; NULL = the standard                                 */
    bool share;                 /* others may read the trace                                    */
    const char *dump_on;        /* "SIGUSR2"; NULL = none                                       */
    const char *pid;            /* a process that runs already; NULL = start one                */
    const char *duration;       /* "5s"; NULL = until a signal                                  */
    const char *schedule;       /* "skip=1,warmup=1,active=3,repeat=2"; NULL = all steps         */
    /* doctor */
    bool peaks;                 /* measure them                                                 */
    /* tune */
    const char *iree;           /* folder of IREE's programs; NULL = the active environment     */
    const char *iree_flags;     /* of the compiler, with blanks between; NULL = llvm-cpu        */
    const char *function, *inputs; /* NULL = "main"; NULL = none, else with ';' between         */
    const char *work;           /* folder; NULL = MODULE.tune                                   */
    const char *limit;          /* "300s"                                                       */
    const char *tolerance;      /* "1e-4"                                                       */
    int64_t tiles, turns;
    /* help */
    bool all, man;
    /* pages about the command itself */
    const struct vv_verb *verbs; /* all verbs, with a NULL name at the end; main sets it         */
    /* the other words */
    char **operands;            /* traces, a verb's name, a shell's name, PROGRAM ARGS          */
    size_t operand_count;
    bool operands_after_dashes; /* "--" came before them                                        */
    bool said[VV_OPTION_COUNT]; /* by row: the option is on the command line                    */
};

/* Does the user want the report of PaddlePaddle Fluid's profiler? */
static inline bool vv_asks_fluid(const struct vv_arguments *arguments)
{
    return arguments->compat != NULL && strcmp(arguments->compat, "paddle") == 0;
}

enum vv_value_kind { VV_VALUE_FLAG, VV_VALUE_TEXT, VV_VALUE_INT, VV_VALUE_CHOICE, VV_VALUE_CHOICES,
                     VV_VALUE_FILE };

struct vv_option {
    const char *name;           /* long name, without dashes                                    */
    const char *also;           /* another long name, not shown; NULL = none                    */
    char letter;                /* short name, or 0                                             */
    enum vv_value_kind kind;
    const char *value;          /* "FILE", "N" …; NULL for flags                                */
    const char *const *choices; /* NULL-terminated, for VV_VALUE_CHOICE, VV_VALUE_CHOICES (one or
                                   several with commas between), and for completions            */
    const char *const *meant;   /* pairs: what people type, and the choice that it is; or NULL  */
    const char *words;          /* list that completions ask for: cli/pages/words.c; NULL = none */
    const char *standard;       /* default, as the user would type it; NULL = none              */
    const char *help;           /* one line; NULL = not shown, not completed                    */
    size_t offset;              /* offset in struct vv_arguments, or in another target          */
};

/* The list of rows that a verb takes; it may name a row twice. */
#define VV_TAKES(...) (const enum vv_option_row[]) { __VA_ARGS__, VV_OPTION_NONE }
#define VV_TAKES_ALWAYS VV_OPTION_HELP, VV_OPTION_QUIET, VV_OPTION_COLOR
#define VV_TAKES_READING VV_OPTION_MAX_MEMORY, VV_OPTION_CACHE, VV_OPTION_NO_CACHE, VV_OPTION_STRICT
#define VV_TAKES_FORMS                                                                             \
    VV_OPTION_FORMAT, VV_OPTION_JSON, VV_OPTION_CSV, VV_OPTION_MD, VV_OPTION_OUTPUT
#define VV_TAKES_TABLES VV_TAKES_FORMS, VV_OPTION_UNIT, VV_OPTION_TABLE

struct vv_example { const char *command, *says; };

/* The kind of a verb's operands, for completions. */
enum vv_operands { VV_OPERANDS_FILES, VV_OPERANDS_NONE, VV_OPERANDS_PROGRAM, VV_OPERANDS_VERB,
                   VV_OPERANDS_SHELL, VV_OPERANDS_PROCESS };

/* Runs a verb: vv_cmd_NAME in cmd_NAME.c. Returns the exit code. It parses nothing, calls one
 * analysis, and prints. Errors go to standard error: "varve: SENTENCE", and then, on lines indented
 * by two, what to type next. */
typedef int vv_run_verb(const struct vv_arguments *arguments);

struct vv_verb {
    const char *name;
    const char *group;          /* heading of the overview: "Look"                              */
    const char *summary;        /* one line: "where the time went"                              */
    const char *operands;       /* "[TRACE]", "-- PROGRAM [ARG…]"                               */
    enum vv_operands operand_kind;
    bool exits_as_program;      /* the exit code is that of the program, or 125, 126, 127 */
    const char *description;    /* a paragraph for help and man page                            */
    const enum vv_option_row *takes; /* VV_TAKES                                                */
    const char *output;         /* meaning of -o for it; NULL = that in the option's row        */
    const char *fields;         /* the same of --fields                                         */
    const char *table;          /* table for --fields and --sort; NULL = none                   */
    const struct vv_example *examples; /* the last has a NULL command                           */
    vv_run_verb *run;
};

/* options.c */
extern const struct vv_option vv_options[VV_OPTION_COUNT];
bool vv_verb_takes(const struct vv_verb *verb, int row);
bool vv_verb_shows(const struct vv_verb *verb, int row); /* in help, man page and completions */
/* Does the option choose form, reading or looks, as for most verbs, and no answer? Help shows such
 * rows behind the verb's own. */
bool vv_option_is_shared(const struct vv_verb *verb, int row);
/* the meaning of the option for this verb */
const char *vv_verb_option_help(const struct vv_verb *verb, int row);

/* verbs.c; the last has a NULL name. This table refers to every verb's function. So a verb that
 * needs the other verbs gets them from its arguments instead. */
extern const struct vv_verb vv_verbs[];

/* What is needed to parse a command line: a table of any number of options. Each value is stored at
 * its row's offset from `values`; said[row] becomes true if the option is on the line. */
struct vv_line {
    const struct vv_option *options;
    int option_count;
    void *values;
    bool *said;
};

/* parse.c: argv[0] is the verb. After a failure the message is one line for the user. */
enum varve_code vv_line_parse(const struct vv_line *line, const struct vv_verb *verb, int argc,
                              char **argv, int *out_first_operand, struct varve_error *error);
enum varve_code vv_arguments_parse(const struct vv_verb *verb, int argc, char **argv,
                                   struct vv_arguments *out_arguments, struct varve_error *error);
/* Prints "varve: MESSAGE", and returns the exit code for error->code. report_error.c */
int vv_print_error(const struct varve_error *error);
/* The same for a verb that reads and writes traces: the exit code says which of the two failed. */
int vv_complain_writing(const struct varve_error *error);

/* The trace that a verb should read: the operand, or the newest trace in the current folder,
 * which is then named on standard error unless quiet. The caller frees *out_path. locate.c */
enum varve_code vv_locate_trace(const struct vv_arguments *arguments, char **out_path,
                                struct varve_error *error);

#endif
