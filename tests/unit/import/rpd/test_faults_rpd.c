/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_rpd.c — each allocation of an import of a .rpd file fails once, by
 * failing_database.h. The build wraps malloc, calloc and realloc for programs of this name. */
#include "failing_database.h"

static const char sql_of_all[] =
    "CREATE TABLE rocpd_string (id INTEGER PRIMARY KEY, string TEXT);"
    "INSERT INTO rocpd_string VALUES (1, ''), (2, 'hipLaunchKernel'), (3, 'KernelExecution'), "
    "(4, 'gemm'), (5, 'UserMarker'), (6, 'aten::mm, seq = 3, sizes = [[2, 3]]'), (7, 'a mark');"
    "CREATE TABLE rocpd_metadata (tag TEXT, value TEXT);"
    "INSERT INTO rocpd_metadata VALUES ('schema_version', '2');"
    "CREATE TABLE rocpd_op (id, gpuId, queueId, start, end, description_id, opType_id, more TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO "
    "rocpd_op SELECT i << 32, i % 3, i % 70, 50 + i * 10, 55 + i * 10, 4, 3, "
    "hex(zeroblob(i * 9)) FROM n;"
    "CREATE TABLE rocpd_api (id, pid, tid, start, end, apiName_id, args_id);"
    "INSERT INTO rocpd_api SELECT id, 1 + gpuId, 9, start - 40, end - 40, 2, 1 FROM rocpd_op;"
    "INSERT INTO rocpd_api SELECT id + 1, 1 + gpuId, 9, start - 41, end - 39, 5, 6 FROM rocpd_op;"
    "INSERT INTO rocpd_api SELECT id + 2, 1 + gpuId, 9, start, start, 5, 7 FROM rocpd_op;"
    "INSERT INTO rocpd_api VALUES (7, 1, 9, 5, NULL, 2, 1);"
    "CREATE TABLE rocpd_api_ops (api_id, op_id);"
    "INSERT INTO rocpd_api_ops SELECT id, id FROM rocpd_op;"
    "CREATE TABLE rocpd_kernelapi (api_ptr_id, stream, gridX, workgroupX, kernelName_id);"
    "INSERT INTO rocpd_kernelapi SELECT id, '0x0', 7, 64, 4 FROM rocpd_op;"
    "CREATE TABLE ext_autogradapi (api_ptr_id, autogradName_id, seq);"
    "INSERT INTO ext_autogradapi SELECT id + 1, 4, queueId FROM rocpd_op;"
    "CREATE TABLE rocpd_monitor (deviceType, deviceId, monitorType, start, end, value);"
    "INSERT INTO rocpd_monitor SELECT 'gpu', queueId, 'sclk', start, end, '800' FROM rocpd_op;";

int main(void)
{
    return import_with_failing_allocations(sql_of_all, 601);
}
