/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h — SQLite, opened when the first of its files is read. Linked like the other libraries it
 * would cost each start of varve 0.2 ms. */
#ifndef VV_IMPORT_NSYS_SQLITE_H
#define VV_IMPORT_NSYS_SQLITE_H

#include "base/error.h"

#ifdef VV_HAVE_SQLITE

#include <sqlite3.h>

#define VV_SQLITE_FUNCTIONS(X) \
    X(close) X(column_bytes) X(column_count) X(column_double) X(column_int64) X(column_name) X(column_text) \
    X(column_type) X(db_config) X(deserialize) X(errcode) X(errmsg) X(errstr) X(finalize) X(free) X(limit) \
    X(mprintf) X(open_v2) X(prepare_v2) X(progress_handler) X(realloc64) X(set_authorizer) X(step) X(table_column_metadata)

/* Its functions by their names without "sqlite3_". */
struct vv_sqlite {
#define VV_SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;
    VV_SQLITE_FUNCTIONS(VV_SQLITE_MEMBER)
#undef VV_SQLITE_MEMBER
};
extern struct vv_sqlite vv_sqlite;

/* Before any other use. VARVE_UNSUPPORTED: it is not installed, or too old. Thread-safe. */
enum varve_code vv_sqlite_open(struct varve_error *error);

#endif
#endif
