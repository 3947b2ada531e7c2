/* SPDX-License-Identifier: Apache-2.0 */
/* reader.h — reads a trace, of Varve or of another profiler, from a program of your own. Link with
 * libvarve-reader.so (pkg-config varve-reader, CMake varve::reader). doc/reader.md has examples.
 *
 *     struct varve_trace *trace;
 *     struct varve_table *table;
 *     struct varve_error error;
 *     const char *paths[] = { "run.varve" };
 *     if (varve_trace_open(paths, 1, NULL, &trace, &error) != VARVE_OK ||
 *         varve_trace_ask(trace, "operators", NULL, &table, &error) != VARVE_OK)
 *         …  error.message
 *     for (uint64_t row = 0; row < varve_table_rows(table); row++)
 *         printf("%s %lld\n", varve_table_text(table, row, "name"),
 *                (long long)varve_table_integer(table, row, "self_ns"));
 *     varve_table_close(table);
 *     varve_trace_close(trace);
 *
 * A trace, a graph and an answer are tables. All tables are read by the same functions, cell by
 * cell or column by column. Times are int64 nanoseconds since the Unix epoch.
 *
 * Thread-safety: a trace, and what is made of it, does not change while it is open. Several threads
 * may use one trace, table or graph at once. Only the functions that close one need it for
 * themselves. Reading a large trace, and answering about one, makes threads, which have ended when
 * the call returns. The library never prints, exits, or changes signal handlers.
 *
 * Errors: in the caller's struct varve_error, which may be NULL. Outputs are written only on
 * success. A NULL handle is VARVE_INVALID, or gives 0 or NULL where the result is no code. A handle
 * that was closed must not be used. */
#ifndef VARVE_READER_H
#define VARVE_READER_H

#include <stddef.h>
#include <stdint.h>

#include "varve/error.h"

#define VARVE_READER_API __attribute__((visibility("default")))

#ifdef __cplusplus
extern "C" {
#endif

struct varve_trace; /* what was read */
struct varve_table; /* rows and columns */
struct varve_dag;   /* a graph of what ran */

/* The version of the library that is loaded: "0.1.0". Static. */
VARVE_READER_API const char *varve_reader_version(void);

/* ---- traces ---- */

struct varve_open_options {
    uint32_t struct_size; /* sizeof(struct varve_open_options)                                */
    uint32_t threads;     /* that may read one file; 0 = as many as there are processors       */
    uint64_t max_memory_bytes; /* of the tables, about; 0 = three quarters of the machine's, and
                                  no more than the files can need. A larger trace is VARVE_LIMIT */
    const char *step_by;  /* name of the ranges that are steps; NULL = recorded or usual ones  */
    const char *step_thread; /* thread whose steps count, where they are not recorded; or NULL */
    /* end of ABI 0 */
};

/* Reads the traces at paths[0 .. path_count) as one run. Each is a folder or a file, of any format
 * that doc/formats.md names, recognised by content. `options` may be NULL. The caller closes
 * *out_trace.
 * VARVE_NOT_FOUND: there is no such path. VARVE_UNSUPPORTED: the file is no trace. VARVE_CORRUPT,
 * VARVE_TRUNCATED: error->offset says where. VARVE_LIMIT: it needs more memory than allowed. */
VARVE_READER_API enum varve_code varve_trace_open(const char *const *paths, size_t path_count,
                                                  const struct varve_open_options *options,
                                                  struct varve_trace **out_trace,
                                                  struct varve_error *error);
/* Also frees the trace's own tables. NULL does nothing. */
VARVE_READER_API void varve_trace_close(struct varve_trace *trace);

struct varve_trace_info {
    uint32_t struct_size;  /* set by the caller: sizeof(struct varve_trace_info)               */
    uint32_t path_count;   /* files and folders that were read                                 */
    const char *format;    /* of the first: "varve", "chrome" …; the trace's                   */
    uint64_t events;       /* event records that were read                                     */
    uint64_t lost;         /* event records that the recorder counted as lost                  */
    uint64_t findings;     /* kinds of oddities in the input: rows of table "health"           */
    uint64_t truncated_files; /* inputs that were cut: their whole part was read               */
    int64_t begin_ns;      /* first recorded instant                                           */
    int64_t end_ns;        /* last recorded instant                                            */
    /* end of ABI 0 */
};
/* Says what was read, and whether to trust it. */
VARVE_READER_API enum varve_code varve_trace_describe(const struct varve_trace *trace,
                                                      struct varve_trace_info *out_info,
                                                      struct varve_error *error);

/* ---- tables ---- */

/* What a cell is in memory. The numbers never change; new ones may come. */
enum varve_cell_type {
    VARVE_CELL_NONE = 0,
    VARVE_CELL_U8,
    VARVE_CELL_U16,
    VARVE_CELL_U32,
    VARVE_CELL_U64,
    VARVE_CELL_I32,
    VARVE_CELL_I64,
    VARVE_CELL_DOUBLE,
    VARVE_CELL_STRING, /* uint32_t: the id of a string                                         */
    VARVE_CELL_TEXT    /* const char *: UTF-8, ends with NUL; NULL where there is no value      */
};

/* In columns of type VARVE_CELL_U32 that hold rows of another table: there is none. */
#define VARVE_NO_ROW UINT32_MAX

struct varve_column {
    uint32_t struct_size; /* set by the caller: sizeof(struct varve_column)                     */
    uint32_t type;        /* enum varve_cell_type                                              */
    const char *name;     /* lower case, unit last: "self_ns"; static                          */
    const char *title;    /* what people see above it: "self"; static                          */
    const char *unit;     /* "ns", "bytes", "count", "flop/s", "bytes/s", "1" for a share, or "";
                             static                                                            */
    const void *cells;    /* row i is at (const char *)cells + i * stride_bytes; NULL = no rows.
                             The table's, and not to be written                                */
    const unsigned char *present; /* the same way: 0 = row i has no value. NULL = all have one  */
    uint64_t stride_bytes;
    /* end of ABI 0 */
};

/* One cell, widened. Fixed layout. */
struct varve_cell {
    uint32_t type;    /* VARVE_CELL_NONE (no value), _I64 (integer), _DOUBLE (real), _TEXT      */
    uint32_t reserved;
    int64_t integer;  /* of unsigned 64-bit columns the bits; 0 unless _I64                    */
    double real;      /* 0 unless _DOUBLE                                                      */
    const char *text; /* the table's; also the word of a kind; or NULL                          */
};

enum varve_row_kind {
    VARVE_ROW_PLAIN = 0,
    VARVE_ROW_REMAINDER, /* the rows that `top` left out, together                              */
    VARVE_ROW_TOTAL      /* all rows together                                                   */
};

VARVE_READER_API uint64_t varve_table_rows(const struct varve_table *table);
VARVE_READER_API uint32_t varve_table_columns(const struct varve_table *table);
/* "operators"; static. */
VARVE_READER_API const char *varve_table_name(const struct varve_table *table);
/* One sentence: what the numbers cover, or why there are none. The table's; NULL = nothing to
 * say. */
VARVE_READER_API const char *varve_table_policy(const struct varve_table *table);
/* enum varve_row_kind; VARVE_ROW_PLAIN for a row that there is not. */
VARVE_READER_API uint32_t varve_table_row_kind(const struct varve_table *table, uint64_t row);
/* Fills *out_column, whose struct_size is set. VARVE_INVALID: there is no such column. */
VARVE_READER_API enum varve_code varve_table_column(const struct varve_table *table,
                                                    uint32_t column,
                                                    struct varve_column *out_column,
                                                    struct varve_error *error);
/* The number of the column with this name. VARVE_NOT_FOUND: there is none; the message has the
 * nearest. */
VARVE_READER_API enum varve_code varve_table_find(const struct varve_table *table, const char *name,
                                                  uint32_t *out_column, struct varve_error *error);
/* VARVE_INVALID: there is no such row or column. */
VARVE_READER_API enum varve_code varve_table_cell(const struct varve_table *table, uint64_t row,
                                                  uint32_t column, struct varve_cell *out_cell,
                                                  struct varve_error *error);
/* A cell of the column with this name: its integer, 0 where it has none; its text or the word of
 * its kind, NULL where it has none. 0 and NULL also where there is no such row or column. */
VARVE_READER_API int64_t varve_table_integer(const struct varve_table *table, uint64_t row,
                                             const char *column);
VARVE_READER_API const char *varve_table_text(const struct varve_table *table, uint64_t row,
                                              const char *column);
/* The string of an id, in columns of type VARVE_CELL_STRING. It lives as long as the table; "" for
 * an id that there is not, NULL for a table without such columns. UTF-8. */
VARVE_READER_API const char *varve_table_string(const struct varve_table *table, uint32_t id);
/* The word for a number in a column that holds kinds: "kernel". NULL: there is none. Static. */
VARVE_READER_API const char *varve_table_word(const struct varve_table *table, uint32_t column,
                                              uint64_t number);
/* For the caller's tables (varve_trace_ask). NULL, and tables that belong to a trace or a graph,
 * are left alone. */
VARVE_READER_API void varve_table_close(struct varve_table *table);

/* ---- what was recorded: the tables of the model ---- */

/* The names of these tables: "slices", "ops", "tracks", "steps", "flows", "tensors" … NULL for an
 * index beyond the last. Static. */
VARVE_READER_API const char *varve_trace_table_name(size_t index);
/* *out_table is the trace's, and lives as long. Columns named as another table, in the singular,
 * hold rows of it, or VARVE_NO_ROW. VARVE_NOT_FOUND: there is no such table; the message has the
 * nearest. */
VARVE_READER_API enum varve_code varve_trace_table(const struct varve_trace *trace,
                                                   const char *name,
                                                   const struct varve_table **out_table,
                                                   struct varve_error *error);

/* ---- answers: the tables that the command `varve` prints ---- */

#define VARVE_QUESTION_WARM_UP 1u      /* warm-up steps count, too                               */
#define VARVE_QUESTION_BREAK_CYCLES 2u /* of a graph: leave out edges that lead back            */

/* Which part of the trace, and in which form. Each text means what the option of that name means to
 * `varve`; NULL and 0 are the defaults. Read during the call only. */
struct varve_question {
    uint32_t struct_size; /* sizeof(struct varve_question)                                      */
    uint32_t flags;       /* VARVE_QUESTION_…                                                   */
    const char *steps;    /* "5", "2..8", "10..": indices, inclusive                            */
    const char *thread;   /* a track's name or number                                           */
    const char *rank;     /* "3", "0,2..5"                                                      */
    const char *device;   /* "cuda:0", "cuda", "0"                                              */
    const char *filter;   /* an expression over slices: doc/metrics.md                          */
    const char *by;       /* what one row is: "op", "shape" … Of a graph, what it is folded by:
                             "module,block,phase,name"                                         */
    const char *sort;     /* a column                                                           */
    const char *compat;   /* rules of another tool: "hta", "paddle", "msprof", "mlirgraph"      */
    const char *annotation; /* for the critical path: ranges with this name                     */
    int64_t instance;     /* which of these ranges                                              */
    const char *scale;    /* factors of what_if: "4", "OP=4;OP=1.5"                             */
    int64_t top;          /* rows or nodes; the rest becomes one; 0 = all                       */
    const char *of;       /* which graph: "operators", "python", "calls", "kernels", "memory",
                             "registered"                                                      */
    const char *edges;    /* of a graph: "data,flow,nesting,stream,sync,order"; NULL = all known */
    const char *around;   /* of a graph: only nodes of this name, and what is near              */
    int64_t hops;         /* how many edges away is near; 0 = 1                                 */
    /* end of ABI 0 */
};

/* The names of the tables that answer, and what each says; NULL for an index beyond the last.
 * Static. */
VARVE_READER_API const char *varve_answer_name(size_t index);
VARVE_READER_API const char *varve_answer_says(size_t index);
/* Makes a table by name. `question` may be NULL. The caller closes *out_table, before or after the
 * trace. VARVE_INVALID: there is no such table (the message has the nearest), or the question
 * contradicts it, or a text of it cannot be read. */
VARVE_READER_API enum varve_code varve_trace_ask(const struct varve_trace *trace, const char *name,
                                                 const struct varve_question *question,
                                                 struct varve_table **out_table,
                                                 struct varve_error *error);

/* ---- graphs: what ran, and what followed from what (doc/graph.md) ---- */

/* Makes the graph that `varve dag` shows: folded by `by`, cut by `top` or `around`. `question` may
 * be NULL. The caller closes *out_dag, before or after the trace. VARVE_INVALID: the graph has a
 * cycle, which the message names, or the question asks for what is not there. */
VARVE_READER_API enum varve_code varve_dag_make(const struct varve_trace *trace,
                                                const struct varve_question *question,
                                                struct varve_dag **out_dag,
                                                struct varve_error *error);
/* Also frees the graph's tables. NULL does nothing. */
VARVE_READER_API void varve_dag_close(struct varve_dag *dag);

/* The names of a graph's tables; NULL for an index beyond the last. Static.
 *     "nodes"        columns parent (row in nodes: the group that it stands in), level, kind, name,
 *                    count, total_ns, self_ns … first_occurrence, occurrence_count
 *     "edges"        columns from and to (rows in nodes), kind, count, bytes …
 *     "occurrences"  what a node took in one step; those of a node stand together
 *     "notes"        key and text: what the graph covers, and what it could not know
 * varve_table_word gives the words of column "kind". */
VARVE_READER_API const char *varve_dag_table_name(size_t index);
/* The forms in which a graph can be written: "json", "mlirgraph" …; NULL for an index beyond the
 * last. Static. */
VARVE_READER_API const char *varve_dag_form_name(size_t index);
struct varve_drawing {
    uint32_t struct_size; /* sizeof(struct varve_drawing)                                       */
    uint32_t reserved;    /* 0                                                                 */
    const char *form;     /* NULL = what the extension of the path says                         */
    const char *metric;   /* what colours say: "total", "self", "mean", "share", "memory"       */
    const char *colours;  /* their scale: "linear", "log", "rank"                               */
    const char *theme;    /* "auto", "light", "dark"                                            */
    /* end of ABI 0 */
};
/* Writes a graph as a file, in one of these forms. The texts of `drawing` mean what the options of
 * `varve dag` do; NULL are the defaults, and `drawing` may be NULL. The file appears whole or not
 * at all, and replaces a file of that name. Some forms have a second file beside it (doc/graph.md).
 * Pictures of small graphs are placed by the program dot of Graphviz, where it is installed.
 * VARVE_INVALID: a text is not known, or the extension says no form. VARVE_EXISTS: `path` is there,
 * and is no file. VARVE_IO, VARVE_PERMISSION, VARVE_NOT_FOUND: it cannot be written. */
VARVE_READER_API enum varve_code varve_dag_write(const struct varve_dag *dag, const char *path,
                                                 const struct varve_drawing *drawing,
                                                 struct varve_error *error);
/* *out_table is the graph's, and lives as long. VARVE_NOT_FOUND: there is no such table. */
VARVE_READER_API enum varve_code varve_dag_table(const struct varve_dag *dag, const char *name,
                                                 const struct varve_table **out_table,
                                                 struct varve_error *error);

#ifdef __cplusplus
}
#endif
#endif
