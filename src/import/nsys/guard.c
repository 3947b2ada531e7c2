/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c — a database of a stranger: a file of ours to judge, not to obey. Its schema is a program in SQL and its pages may
 * lead anywhere, so tables alone are read, no expression of the file's is evaluated, and what is done for the
 * whole file comes out of one budget that stays spent. */
#include "import/nsys/nsys.h"

#ifdef VV_HAVE_SQLITE

#include <stdlib.h>
#include <string.h>

#define STEPS_PER_LOOK 100000 /* of SQLite's machine                                            */
#define TEXT_BYTES_MAX (UINT64_C(64) << 20)
#define TEXT_BYTES_MIN (UINT64_C(1) << 20)

/* ---- what may be done ---- */

/* `inner` names the view or trigger that wants it: what we ask for ourselves has none. */
static int allow(void *context, int action, const char *first, const char *second, const char *database, const char *inner)
{
    (void)context;
    (void)database;
    if (inner != NULL)
        return SQLITE_DENY;
    switch (action) {
    case SQLITE_SELECT:
    case SQLITE_READ:
        return SQLITE_OK;
    case SQLITE_FUNCTION: /* of look_for_tables                                                 */
        return second != NULL && strcmp(second, "like") == 0 ? SQLITE_OK : SQLITE_DENY;
    case SQLITE_PRAGMA:
        return first != NULL && strcmp(first, "table_xinfo") == 0 ? SQLITE_OK : SQLITE_DENY;
    default:
        return SQLITE_DENY;
    }
}

static int look(void *context)
{
    struct vv_nsys *nsys = context;
    if (nsys->looks_left > 0)
        nsys->looks_left--;
    return nsys->looks_left == 0;
}

static void lower_limits(const struct vv_nsys *nsys)
{
    static const struct { int id, most; } limits[] = {
        { SQLITE_LIMIT_SQL_LENGTH, 1 << 20 }, { SQLITE_LIMIT_EXPR_DEPTH, 100 },  { SQLITE_LIMIT_COMPOUND_SELECT, 2 },
        { SQLITE_LIMIT_FUNCTION_ARG, 8 },     { SQLITE_LIMIT_ATTACHED, 0 },      { SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 100 },
        { SQLITE_LIMIT_VARIABLE_NUMBER, 8 },  { SQLITE_LIMIT_TRIGGER_DEPTH, 1 }, { SQLITE_LIMIT_WORKER_THREADS, 0 },
        { SQLITE_LIMIT_VDBE_OP, 100000 },
    };
    /* No text is longer than the file; pages that lead round in a circle make one of any length. */
    uint64_t text_bytes = nsys->file_bytes > TEXT_BYTES_MAX   ? TEXT_BYTES_MAX
                          : nsys->file_bytes < TEXT_BYTES_MIN ? TEXT_BYTES_MIN
                                                              : nsys->file_bytes;
    vv_sqlite.limit(nsys->database, SQLITE_LIMIT_LENGTH, (int)text_bytes);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        vv_sqlite.limit(nsys->database, limits[i].id, limits[i].most);
}

/* Of a file that lacks pages SQLite reads those that there are only if it may write to the schema; this file nobody can. */
void vv_nsys_guard(struct vv_nsys *nsys, bool lacks_pages)
{
    vv_sqlite.db_config(nsys->database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    vv_sqlite.db_config(nsys->database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    vv_sqlite.db_config(nsys->database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    vv_sqlite.db_config(nsys->database, SQLITE_DBCONFIG_DEFENSIVE, !lacks_pages, NULL);
    vv_sqlite.db_config(nsys->database, SQLITE_DBCONFIG_WRITABLE_SCHEMA, lacks_pages, NULL);
    lower_limits(nsys);
    nsys->rows_left = nsys->file_bytes;
    nsys->text_bytes_left = 8 * nsys->file_bytes + TEXT_BYTES_MIN; /* tables are read twice, UTF-16 grows by half */
    nsys->looks_left = 1000 + nsys->file_bytes / 100;
    vv_sqlite.progress_handler(nsys->database, STEPS_PER_LOOK, look, nsys);
    vv_sqlite.set_authorizer(nsys->database, allow, nsys);
}

/* ---- which tables ---- */

/* A table that is not there is plain. The columns are looked at without compiling what computes them: a query would hold that
 * once for each time that one names another. */
enum varve_code vv_nsys_is_plain_table(struct vv_nsys *nsys, const char *table, bool *out_is_plain,
                                       struct varve_error *error)
{
    sqlite3_stmt *columns = NULL;
    char *query = vv_sqlite.mprintf("PRAGMA table_xinfo(\"%w\")", table);
    int status = query == NULL ? SQLITE_NOMEM : vv_sqlite.prepare_v2(nsys->database, query, -1, &columns, NULL);
    *out_is_plain = true;
    if (status == SQLITE_OK)
        while ((status = vv_sqlite.step(columns)) == SQLITE_ROW && *out_is_plain) /* the last says "hidden" */
            *out_is_plain = vv_sqlite.column_int64(columns, vv_sqlite.column_count(columns) - 1) == 0;
    vv_sqlite.finalize(columns);
    vv_sqlite.free(query);
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to look at a table");
    return VARVE_OK;
}

/* ---- the budget ---- */

/* Takes the statement's row out of it; false: no file of this size holds as much. */
bool vv_nsys_may_hold(struct vv_nsys *nsys, sqlite3_stmt *statement)
{
    uint64_t bytes = 0;
    for (int i = vv_sqlite.column_count(statement) - 1; i >= 0; i--) {
        int type = vv_sqlite.column_type(statement, i);
        if (type == SQLITE_TEXT || type == SQLITE_BLOB)
            bytes += (uint64_t)vv_sqlite.column_bytes(statement, i);
    }
    if (nsys->rows_left == 0 || bytes > nsys->text_bytes_left)
        return false;
    nsys->rows_left--;
    nsys->text_bytes_left -= bytes;
    return true;
}

#endif
