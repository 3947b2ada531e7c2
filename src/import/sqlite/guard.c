/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c — protects against a hostile database. Its schema is a program in SQL, and its pages may
 * lead anywhere. So only tables are read, no expression of the file is evaluated, and the work for
 * the whole file is limited by one budget, which is never refilled. */
#include "import/sqlite/database.h"

#ifdef VV_HAVE_SQLITE

#include <stdlib.h>
#include <string.h>

#define STEPS_PER_LOOK 100000 /* steps of SQLite's virtual machine                              */
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)
#define TEXT_BYTES_MIN (UINT64_C(1) << 20)

/* ---- permissions ---- */

/* `inner` names the view or trigger that asks for the action; for our own queries it is NULL. */
static int allow(void *context, int action, const char *first, const char *second,
                 const char *database, const char *inner)
{
    (void)context;
    (void)database;
    if (inner != NULL)
        return SQLITE_DENY;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
        return SQLITE_OK;
    case SQLITE_FUNCTION: /* vv_database_has needs it                                           */
        return second != NULL && strcmp(second, "like") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return first != NULL && strcmp(first, "table_xinfo") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int count_steps(void *context)
{
    struct vv_database *database = context;
    if (database->looks_left > 0)
        database->looks_left--;
    return database->looks_left == 0;
}

static void lower_limits(const struct vv_database *database)
{
    static const struct { int id, most; } limits[] = {
        { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },
         { SQLITE_LIMIT_COMPOUND_SELECT, 2 },
        { SQLITE_LIMIT_FUNCTION_ARG, 8 },     { SQLITE_LIMIT_ATTACHED, 0 },
             { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
        { SQLITE_LIMIT_VARIABLE_NUMBER, 8 },  { SQLITE_LIMIT_TRIGGER_DEPTH, 1 },
        { SQLITE_LIMIT_WORKER_THREADS, 0 },
        { SQLITE_LIMIT_VDBE_OP, 100000 },
    };
    /* No real text is longer than the file. But a circle of pages could give a text of any
     * length. */
    uint64_t text_bytes = database->file_bytes > TEXT_BYTES_MAX   ? TEXT_BYTES_MAX
                          : database->file_bytes < TEXT_BYTES_MIN ? TEXT_BYTES_MIN
                                                              : database->file_bytes;
    vv_sqlite.limit(database->sqlite, SQLITE_LIMIT_LENGTH, (int)text_bytes);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        vv_sqlite.limit(database->sqlite, limits[i].id, limits[i].most);
}

/* If a file lacks pages, SQLite reads the remaining ones only if the schema may be written; here
 * the file itself is read-only. */
void vv_database_guard(struct vv_database *database, bool lacks_pages)
{
    vv_sqlite.db_config(database->sqlite, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    vv_sqlite.db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    vv_sqlite.db_config(database->sqlite, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    vv_sqlite.db_config(database->sqlite, SQLITE_DBCONFIG_DEFENSIVE, !lacks_pages, NULL);
    vv_sqlite.db_config(database->sqlite, SQLITE_DBCONFIG_WRITABLE_SCHEMA, lacks_pages, NULL);
    lower_limits(database);
    database->rows_left = database->file_bytes;
    /* tables are read twice, and UTF-16 grows by half */
    database->text_bytes_left = 8 * database->file_bytes + TEXT_BYTES_MIN;
    database->looks_left = 1000 + database->file_bytes / 100;
    vv_sqlite.progress_handler(database->sqlite, STEPS_PER_LOOK, count_steps, database);
    vv_sqlite.set_authorizer(database->sqlite, allow, database);
}

/* ---- which tables ---- */

/* True if all columns of the table are stored, and none is computed; also if the table does not
 * exist. The columns are listed without compiling their expressions: a query would contain an
 * expression once for each time that another names it. */
enum varve_code vv_database_is_plain_table(struct vv_database *database, const char *table,
                                           bool *out_is_plain, struct varve_error *error)
{
    sqlite3_stmt *columns = NULL;
    char *query = vv_sqlite.mprintf("PRAGMA table_xinfo(\"%w\")", table);
    int status = query == NULL ? SQLITE_NOMEM
                               : vv_sqlite.prepare_v2(database->sqlite, query, -1, &columns, NULL);
    *out_is_plain = true;
    if (status == SQLITE_OK)
        /* the last field says "hidden" */
        while ((status = vv_sqlite.step(columns)) == SQLITE_ROW && *out_is_plain)
            *out_is_plain =
                vv_sqlite.column_int64(columns, vv_sqlite.column_count(columns) - 1) == 0;
    vv_sqlite.finalize(columns);
    vv_sqlite.free(query);
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look at a table");
    return VARVE_OK;
}

/* ---- the budget ---- */

/* Takes the statement's row out of the budget. False: no file of this size holds so much. */
bool vv_database_may_hold(struct vv_database *database, sqlite3_stmt *statement)
{
    uint64_t bytes = 0;
    for (int i = vv_sqlite.column_count(statement) - 1; i >= 0; i--) {
        int type = vv_sqlite.column_type(statement, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            bytes += (uint64_t)vv_sqlite.column_bytes(statement, i);
    }
    if (database->rows_left == 0 || bytes > database->text_bytes_left)
        return false;
    database->rows_left--;
    database->text_bytes_left -= bytes;
    return true;
}

#endif
