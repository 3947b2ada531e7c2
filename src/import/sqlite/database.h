/* SPDX-License-Identifier: Apache-2.0 */
/* database.h — a trace that is an SQLite database: opens it and reads its tables, for the importers
 * of such traces. A stranger may have written the file: guard.c.
 *
 * The file is opened read-only and immutable: nothing is written beside it, and nothing is locked.
 * A file that is cut, or whose pages lead in circles, gives the rows that can be read, and
 * `is_torn`. Thread-compatible. */
#ifndef VV_IMPORT_SQLITE_DATABASE_H
#define VV_IMPORT_SQLITE_DATABASE_H

#include "import/input/format.h"
#include "import/rows/attribute.h"
#include "import/sqlite/sqlite.h"

/* Does a file begin as SQLite's do? What kind of database it is, only its schema says, which may be
 * at any place in the file. */
bool vv_database_begins(const char *head, size_t head_bytes);

#ifdef VV_HAVE_SQLITE

struct vv_database {
    struct vv_model *model;
    sqlite3 *sqlite;
    uint64_t file_bytes;        /* as SQLite sees it: decompressed                              */
    uint64_t rows_left;         /* budget: a file cannot have more rows than bytes */
    uint64_t text_bytes_left;   /* budget: no file holds more text                               */
    uint64_t looks_left;        /* budget of machine steps: more means an endless loop           */
    bool is_torn;
};

/* Opens the job's file, with all limits set. On failure there is nothing to close. */
enum varve_code vv_database_open(struct vv_database *database, const struct vv_import_job *job,
                                 struct varve_error *error);
void vv_database_close(struct vv_database *database);

/* Does the schema have what the query asks for: has the query a row? */
enum varve_code vv_database_has(struct vv_database *database, const char *query, bool *out_has,
                                struct varve_error *error);

/* Takes one row. Its columns are read with vv_sqlite.column_… and the functions below. */
typedef enum varve_code vv_database_take(void *context, sqlite3_stmt *row,
                                         struct varve_error *error);
/* Reads a table. A page that cannot be read, or a budget that is spent, ends the table, and the
 * file counts as torn. A missing table has no rows. A table that is not stored as it is, such as a
 * view, is not read but counted in health.ignored. */
enum varve_code vv_database_each(struct vv_database *database, const char *table,
                                 vv_database_take *take, void *context, struct varve_error *error);
/* Counts the rows of a table that is not read: in health.ignored, and in a fact. */
enum varve_code vv_database_count(struct vv_database *database, const char *table,
                                  struct varve_error *error);

/* Takes the name of one table. */
typedef enum varve_code vv_database_take_name(void *context, const char *table,
                                              struct varve_error *error);
/* Tables alone: a view is a query that the file's author wrote, and a virtual table is a
 * program. */
enum varve_code vv_database_each_table(struct vv_database *database, vv_database_take_name *take,
                                       void *context, struct varve_error *error);
/* Has the table all columns of the list, which ends with NULL? */
bool vv_database_has_columns(struct vv_database *database, const char *table,
                             const char *const *columns);

/* A column's text as a string of the model. */
enum varve_code vv_database_text(struct vv_database *database, sqlite3_stmt *row, int column,
                                 uint32_t *out_string, struct varve_error *error);
/* A column as an attribute; *out_is_said is false if it is NULL. */
enum varve_code vv_database_attribute(struct vv_database *database, sqlite3_stmt *row, int column,
                                      struct vv_attribute *out, bool *out_is_said,
                                      struct varve_error *error);

/* For this room alone: guard.c. Sets limits, permissions and budgets for an open database. */
void vv_database_guard(struct vv_database *database, bool lacks_pages);
/* Are all columns of the table stored in the file, and not computed? */
enum varve_code vv_database_is_plain_table(struct vv_database *database, const char *table,
                                           bool *out_is_plain, struct varve_error *error);
/* Takes the statement's row out of the budget; false if the budget is spent. */
bool vv_database_may_hold(struct vv_database *database, sqlite3_stmt *statement);

#endif
#endif
