/* SPDX-License-Identifier: Apache-2.0 */
/* sqlite.h — loads SQLite when the first file needs it. If varve were linked with it, like with
 * other libraries, each start would cost 0.2 ms more. */
#ifndef VV_IMPORT_SQLITE_SQLITE_H
#define VV_IMPORT_SQLITE_SQLITE_H

#include "base/error.h"

#ifdef VV_HAVE_SQLITE

#include <sqlite3.h>

#define VV_SQLITE_FUNCTIONS(X)                                                                     \
    X(close)                                                                                       \
    X(column_bytes) X(column_count) X(column_double) X(column_int64) X(column_name) X(column_text) \
        X(column_type) X(db_config) X(deserialize) X(errcode) X(errmsg) X(errstr) X(finalize)      \
            X(free) X(limit) X(mprintf) X(open_v2) X(prepare_v2) X(progress_handler) X(realloc64)  \
                X(set_authorizer) X(step) X(table_column_metadata)

/* SQLite's functions; the names here lack "sqlite3_". */
struct vv_sqlite {
#define VV_SQLITE_MEMBER(name) __typeof__(&sqlite3_##name) name;
    VV_SQLITE_FUNCTIONS(VV_SQLITE_MEMBER)
#undef VV_SQLITE_MEMBER
};
extern struct vv_sqlite vv_sqlite;

/* Call before any other use. VARVE_UNSUPPORTED: SQLite is not installed, or too old.
 * Thread-safe. */
enum varve_code vv_sqlite_open(struct varve_error *error);

#endif
#endif
