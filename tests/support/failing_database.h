/* SPDX-License-Identifier: Apache-2.0 */
/* failing_database.h — imports a SQLite database that is made by SQL, while its n-th allocation
 * fails, ours or SQLite's, for every n: the answer is VARVE_NO_MEMORY, or SQLite could do without
 * and the import is what it was. Returns what main returns; 77 where SQLite is missing. */
#ifndef FAILING_DATABASE_H
#define FAILING_DATABASE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "failing_allocation.h"
#include "imported_bytes.h"

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>
#include <string.h>

static sqlite3_mem_methods theirs;

static void *failing_malloc(int bytes)
{
    return fails_now() ? NULL : theirs.xMalloc(bytes);
}

static void *failing_realloc(void *memory, int bytes)
{
    return fails_now() ? NULL : theirs.xRealloc(memory, bytes);
}

static const char *sql;
static uint64_t slices;
static unsigned char *image;
static sqlite3_int64 image_bytes;

static int make_image(void **state)
{
    sqlite3_mem_methods failing;
    sqlite3 *database;
    (void)state;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &theirs), SQLITE_OK);
    failing = theirs;
    failing.xMalloc = failing_malloc;
    failing.xRealloc = failing_realloc;
    assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &failing), SQLITE_OK);
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(database));
    image = sqlite3_serialize(database, "main", &image_bytes, 0);
    assert_non_null(image);
    return sqlite3_close(database);
}

static int free_image(void **state)
{
    (void)state;
    sqlite3_free(image);
    return 0;
}

struct seen { uint64_t slices, args, strings, torn; };

static enum varve_code read_image(struct seen *out, struct varve_error *error)
{
    struct vv_model *model = NULL;
    enum varve_code code = imported_bytes(image, (size_t)image_bytes, &model, error);
    if (code != VARVE_OK)
        return code;
    *out = (struct seen){ model->slices.table.count, model->args.table.count, model->strings.count,
                          model->health.truncated_files };
    vv_model_destroy(model);
    return VARVE_OK;
}

static void every_allocation_fails_once(void **state)
{
    struct varve_error error;
    struct seen whole, seen;
    long refused = 0;
    (void)state;
    read_image(&whole, &error); /* SQLite keeps something for later */
    allocation_count = 0;
    assert_int_equal(read_image(&whole, &error), VARVE_OK);
    assert_int_equal(whole.slices, slices);
    assert_int_equal(whole.torn, 0);
    long total = allocation_count;
    for (long n = 0; n < total; n++) {
        allocations_left = n;
        enum varve_code code = read_image(&seen, &error);
        allocations_left = -1;
        refused += code == VARVE_NO_MEMORY;
        if (code != VARVE_NO_MEMORY &&
            (code != VARVE_OK || memcmp(&seen, &whole, sizeof seen) != 0))
            fail_msg("allocation %ld of %ld: code %d: %s", n, total, code,
                     code == VARVE_OK ? "less" : error.message);
    }
    assert_true(refused > total / 2);
}

static int import_with_failing_allocations(const char *of_sql, uint64_t expected_slices)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_fails_once),
    };
    sql = of_sql;
    slices = expected_slices;
    return cmocka_run_group_tests(tests, make_image, free_image);
}

#else

static int import_with_failing_allocations(const char *of_sql, uint64_t expected_slices)
{
    (void)of_sql;
    (void)expected_slices;
    return 77;
}

#endif
#endif
