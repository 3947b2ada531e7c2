/* SPDX-License-Identifier: Apache-2.0 */
/* test_nsys.c — import/nsys*.c on small databases made here by SQL. Left out (77) where SQLite is
 * missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#if __has_include(<sqlite3.h>)
#include <sqlite3.h>

#include "imported_bytes.h"
#include "varve/varve.h"

static struct vv_model *read_sql(const char *sql)
{
    struct vv_model *model = NULL;
    struct varve_error error;
    sqlite3 *database;
    sqlite3_int64 bytes;
    assert_int_equal(sqlite3_open(":memory:", &database), SQLITE_OK);
    if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
        fail_msg("%s", sqlite3_errmsg(database));
    unsigned char *image = sqlite3_serialize(database, "main", &bytes, 0);
    assert_non_null(image);
    if (imported_bytes(image, (size_t)bytes, &model, &error) != VARVE_OK)
        fail_msg("%s", error.message);
    sqlite3_free(image);
    sqlite3_close(database);
    imported_look(model);
    return model;
}

#define STRINGS "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);" \
                "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');"

static void a_kernel_is_linked_to_its_launch(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(
        STRINGS
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000000);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
        "correlationId, globalPid, demangledName);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (50, 80, 1, 1, 7, 3, 16777216, 1);"
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (10, 20, 16777225, 3, 2);");
    assert_int_equal(model->slices.table.count, 2);
    assert_int_equal(model->processes.table.count, 1);
    assert_int_equal(model->processes.pid[0], 1);
    assert_int_equal(model->slices.begin_ns[0], 1000050);
    assert_int_equal(model->slices.duration_ns[0], 30);
    assert_string_equal(vv_intern_text(&model->strings, model->slices.name[0]), "gemm");
    assert_string_equal(vv_intern_text(&model->strings, model->slices.name[1]), "cudaLaunchKernel");
    assert_int_equal(model->tracks.device[0], VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 1));
    assert_int_equal(model->tracks.tid[1], 9);
    assert_int_equal(model->activities.launch[model->slices.activity[0]], 1);
    assert_int_equal(model->health.unlinked, 0);
    vv_model_destroy(model);
}

static void instants_beyond_all_bounds_do_no_harm(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(
        STRINGS
        "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
        "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (9223372036854775000);"
        "CREATE TABLE OSRT_API (start, end, globalTid, nameId);"
        "INSERT INTO OSRT_API VALUES (9223372036854775807, -9223372036854775807, -1, 1), (NULL, "
        "NULL, NULL, NULL), (-9223372036854775808, 5, 0, 99), (1, 9223372036854775807, 0, 1), "
        "('x', 'y', 'z', 'w');");
    assert_int_equal(model->slices.table.count, 5);
    assert_true(model->health.unplaced >= 2);
    vv_model_destroy(model);
}

static void a_loop_in_the_schema_is_not_run(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(
        STRINGS "CREATE VIEW NVTX_EVENTS AS WITH RECURSIVE n(start, eventType) AS"
                " (SELECT 1, 34 UNION ALL SELECT start + 1, 34 FROM n) SELECT * FROM n;");
    assert_int_equal(model->marks.table.count, 0);
    assert_int_equal(model->health.truncated_files, 0); /* not begun, rather than given up */
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_linked_to_its_launch),
        cmocka_unit_test(instants_beyond_all_bounds_do_no_harm),
        cmocka_unit_test(a_loop_in_the_schema_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
