/* SPDX-License-Identifier: Apache-2.0 */
/* test_rpd.c — import/rpd/ on small databases made here by SQL. Left out (77) where SQLite is
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

#define STRINGS                                                                                  \
    "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"                            \
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'), "   \
    "(4, 'gemm');"                                                                               \
    "CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id);"                     \
    "CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id);"          \
    "CREATE TABLE rocpd_api_ops (api_id, op_id);"

static void a_kernel_is_linked_to_its_launch(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(STRINGS
                                      "INSERT INTO rocpd_api VALUES (5, 70, 71, 10, 20, 2, 1);"
                                      "INSERT INTO rocpd_op VALUES (9, 3, 1, 30, 70, 4, 3);"
                                      "INSERT INTO rocpd_api_ops VALUES (5, 9);");
    assert_int_equal(model->slices.table.count, 2);
    assert_int_equal(model->processes.table.count, 1);
    assert_int_equal(model->processes.pid[0], 70);
    assert_int_equal(model->tracks.tid[0], 71);
    assert_int_equal(model->tracks.device[1], VARVE_DEVICE(VARVE_DEVICE_KIND_CUDA, 3));
    assert_int_equal(model->activities.launch[model->slices.activity[1]], 0);
    assert_int_equal(model->slices.duration_ns[1], 40);
    assert_string_equal(vv_intern_text(&model->strings, model->slices.name[1]), "gemm");
    assert_int_equal(model->health.unlinked, 0);
    vv_model_destroy(model);
}

/* Sessions count their ids from their number times 2^32. */
static void work_without_a_call_is_of_its_session_s_process(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(STRINGS
                                      "INSERT INTO rocpd_api VALUES (5, 70, 71, 10, 20, 2, 1), "
                                      "(4294967301, 80, 81, 10, 20, 2, 1);"
                                      "INSERT INTO rocpd_op VALUES (6, 0, 0, 30, 40, 4, 3), "
                                      "(4294967399, 0, 0, 30, 40, 4, 3), "
                                      "(99999999999, 0, 0, 50, 60, 4, 3);");
    int64_t pids[3], found = 0;
    for (uint32_t i = 0; i < model->slices.table.count; i++)
        if (model->slices.layer[i] == VARVE_LAYER_DEVICE)
            pids[found++] = model->processes.pid[model->tracks.process[model->slices.track[i]]];
    assert_int_equal(found, 3);
    assert_int_equal(pids[0] + pids[1] + pids[2], 70 + 80 + 70);
    assert_int_equal(model->health.unlinked, 3);
    vv_model_destroy(model);
}

/* Rows with one id are hostile; what is said of the call is shared once. */
static void what_is_said_of_a_call_is_shared_once(void **state)
{
    (void)state;
    struct vv_model *model = read_sql(
        STRINGS
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) INSERT "
        "INTO rocpd_api SELECT 5, 70, 71, i, i + 1, 2, 1 FROM n;"
        "INSERT INTO rocpd_op SELECT 9, 0, 0, start, end, 4, 3 FROM rocpd_api;"
        "INSERT INTO rocpd_api_ops VALUES (5, 9);"
        "CREATE TABLE rocpd_kernelapi (api_ptr_id, gridX);"
        "INSERT INTO rocpd_kernelapi SELECT id, start FROM rocpd_api;");
    assert_int_equal(model->slices.table.count, 2000);
    assert_int_equal(model->health.ignored, 1000 - 8);
    assert_true(model->args.table.count < 2000 + 100);
    vv_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_is_linked_to_its_launch),
        cmocka_unit_test(work_without_a_call_is_of_its_session_s_process),
        cmocka_unit_test(what_is_said_of_a_call_is_shared_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    return 77;
}

#endif
