/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_nsys.c — each allocation of an import of an Nsight Systems file fails once, by
 * failing_database.h. The build wraps malloc, calloc and realloc for programs of this name. */
#include "failing_database.h"

static const char sql_of_all[] =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000');"
    "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);"
    "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1000000);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, "
    "correlationId, globalPid, demangledName, more TEXT);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, end, globalTid, correlationId, nameId);"
    "CREATE TABLE NVTX_EVENTS (start, end, eventType, text, globalTid);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) INSERT INTO "
    "CUPTI_ACTIVITY_KIND_KERNEL SELECT 50 + i * 10, 55 + i * 10, 1, 1, i % 70, i, 16777216, 1, "
    "hex(zeroblob(i * 9)) FROM n;INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT start - 40, end - "
    "40, globalPid + 9, correlationId, 2 FROM CUPTI_ACTIVITY_KIND_KERNEL;"
    "INSERT INTO NVTX_EVENTS SELECT start, end, 59, 'range ' || start, globalPid + 9 FROM "
    "CUPTI_ACTIVITY_KIND_KERNEL;";

int main(void)
{
    return import_with_failing_allocations(sql_of_all, 600);
}
