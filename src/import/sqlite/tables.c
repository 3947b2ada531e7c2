/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c — which tables a database has, and their rows. A budget for the whole file limits what
 * is read: guard.c. */
#include "import/sqlite/database.h"

#ifdef VV_HAVE_SQLITE

#include <stdio.h>

/* Does not use SQLite's own message, which may quote half of the schema. */
static enum varve_code no_schema(int status, struct varve_error *error)
{
    if (status == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read the database's schema");
    return vv_fail_at(error, VARVE_CORRUPT, 0, "the database's schema cannot be read: %s",
                      vv_sqlite.errstr(status));
}

enum varve_code vv_database_has(struct vv_database *database, const char *query, bool *out_has,
                                struct varve_error *error)
{
    sqlite3_stmt *rows = NULL;
    int status = vv_sqlite.prepare_v2(database->sqlite, query, -1, &rows, NULL);
    if (status == SQLITE_OK)
        status = vv_sqlite.step(rows);
    vv_sqlite.finalize(rows);
    if (status != SQLITE_ROW && status != SQLITE_DONE)
        return no_schema(status, error);
    *out_has = status == SQLITE_ROW;
    return VARVE_OK;
}

enum varve_code vv_database_each_table(struct vv_database *database, vv_database_take_name *take,
                                       void *context, struct varve_error *error)
{
    static const char query[] =
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
        "ORDER BY name";
    sqlite3_stmt *names = NULL;
    enum varve_code code = VARVE_OK;
    int status = vv_sqlite.prepare_v2(database->sqlite, query, -1, &names, NULL);
    if (status != SQLITE_OK)
        return no_schema(status, error);
    while (code == VARVE_OK && (status = vv_sqlite.step(names)) == SQLITE_ROW) {
        const char *name = (const char *)vv_sqlite.column_text(names, 0);
        if (name != NULL)
            code = take(context, name, error);
    }
    if (code == VARVE_OK && status != SQLITE_DONE)
        code = no_schema(status, error);
    vv_sqlite.finalize(names);
    return code;
}

bool vv_database_has_columns(struct vv_database *database, const char *table,
                             const char *const *columns)
{
    for (; *columns != NULL; columns++)
        if (vv_sqlite.table_column_metadata(database->sqlite, NULL, table, *columns, NULL, NULL,
                                            NULL, NULL, NULL) != SQLITE_OK)
            return false;
    return true;
}

/* ---- rows ---- */

static enum varve_code read_rows(struct vv_database *database, sqlite3_stmt *rows,
                                 vv_database_take *take, void *context, struct varve_error *error)
{
    for (;;) {
        int status = vv_sqlite.step(rows);
        if (status == SQLITE_DONE)
            return VARVE_OK;
        if (status == SQLITE_NOMEM)
            VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
        if (status != SQLITE_ROW || !vv_database_may_hold(database, rows)) {
            database->is_torn = true;
            return VARVE_OK;
        }
        VV_TRY(take(context, rows, error));
    }
}

enum varve_code vv_database_each(struct vv_database *database, const char *table,
                                 vv_database_take *take, void *context, struct varve_error *error)
{
    sqlite3_stmt *rows = NULL;
    enum varve_code code = VARVE_OK;
    bool is_plain;
    VV_TRY(vv_database_is_plain_table(database, table, &is_plain, error));
    database->model->health.ignored += !is_plain;
    if (!is_plain)
        return VARVE_OK;
    char *query = vv_sqlite.mprintf("SELECT * FROM \"%w\"", table);
    int status = query == NULL ? SQLITE_NOMEM
                               : vv_sqlite.prepare_v2(database->sqlite, query, -1, &rows, NULL);
    if (status == SQLITE_NOMEM)
        code = vv_fail(error, VARVE_NO_MEMORY, "no memory to read a table");
    else if (status == SQLITE_OK)
        code = read_rows(database, rows, take, context, error);
    else if (status == SQLITE_AUTH)
        database->model->health.ignored++;
    else if (status != SQLITE_ERROR) /* SQLITE_ERROR: there is no such table */
        database->is_torn = true;
    vv_sqlite.finalize(rows);
    vv_sqlite.free(query);
    return code;
}

static enum varve_code count_row(void *context, sqlite3_stmt *row, struct varve_error *error)
{
    uint64_t *count = context;
    (void)row;
    (void)error;
    ++*count;
    return VARVE_OK;
}

enum varve_code vv_database_count(struct vv_database *database, const char *table,
                                  struct varve_error *error)
{
    char key[200];
    uint64_t count = 0;
    VV_TRY(vv_database_each(database, table, count_row, &count, error));
    if (count == 0)
        return VARVE_OK;
    database->model->health.ignored += count;
    snprintf(key, sizeof key, "not read: rows of %s", table);
    return vv_attribute_to_fact(database->model, VV_NONE, key, vv_attribute_int((int64_t)count),
                                error);
}

/* ---- columns ---- */

enum varve_code vv_database_text(struct vv_database *database, sqlite3_stmt *row, int column,
                                 uint32_t *out_string, struct varve_error *error)
{
    const char *text = (const char *)vv_sqlite.column_text(row, column);
    if (text == NULL && vv_sqlite.errcode(database->sqlite) == SQLITE_NOMEM)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory to read a table");
    return vv_model_add_text(database->model, text == NULL ? "" : text,
                             text == NULL ? 0 : (size_t)vv_sqlite.column_bytes(row, column),
                             out_string, error);
}

enum varve_code vv_database_attribute(struct vv_database *database, sqlite3_stmt *row, int column,
                                      struct vv_attribute *out, bool *out_is_said,
                                      struct varve_error *error)
{
    uint32_t string;
    *out_is_said = true;
    switch (vv_sqlite.column_type(row, column)) {
    case SQLITE_NULL:
        *out_is_said = false;
        return VARVE_OK;
    case SQLITE_INTEGER:
        *out = vv_attribute_int(vv_sqlite.column_int64(row, column));
        return VARVE_OK;
    case SQLITE_FLOAT:
        *out = vv_attribute_real(vv_sqlite.column_double(row, column));
        return VARVE_OK;
    default:
        VV_TRY(vv_database_text(database, row, column, &string, error));
        *out = vv_attribute_text(string);
        return VARVE_OK;
    }
}

#endif
