/* SPDX-License-Identifier: Apache-2.0 */
/* vendor.c — a stand-in for the vendor's libraries: has some of their functions, prints each call,
 * and returns results that ours would not. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int32_t MsprofInit(uint32_t type, void *data, uint32_t length);
int32_t MsprofInit(uint32_t type, void *data, uint32_t length)
{
    printf("vendor MsprofInit %u %d %u\n", type, data != NULL, length);
    return 0;
}

int32_t MsprofReportApi(uint32_t flag, const void *api);
int32_t MsprofReportApi(uint32_t flag, const void *api)
{
    printf("vendor MsprofReportApi %u %d\n", flag, api != NULL);
    return 4711;
}

uint64_t MsprofGetHashId(const char *text, size_t length);
uint64_t MsprofGetHashId(const char *text, size_t length)
{
    printf("vendor MsprofGetHashId %.*s\n", (int)length, text);
    return 4712 + (unsigned char)text[0];
}

static char handle[1];

void *aclprofCreateStamp(void);
void *aclprofCreateStamp(void)
{
    puts("vendor aclprofCreateStamp");
    return handle;
}

int aclprofPush(void *stamp);
int aclprofPush(void *stamp)
{
    printf("vendor aclprofPush %d\n", stamp == handle);
    return 4713;
}

void *create(uint32_t *devices, uint32_t count, int metrics, void *events, uint64_t mask)
    __asm__("_ZN2ge23aclgrphProfCreateConfigEPjjNS_22ProfilingAicoreMetricsEPNS_16ProfAicoreEventsEm");
void *create(uint32_t *devices, uint32_t count, int metrics, void *events, uint64_t mask)
{
    printf("vendor create %u %u %d %d 0x%llx\n", devices[0], count, metrics, events != NULL,
           (unsigned long long)mask);
    return handle;
}

uint32_t start(void *config) __asm__("_ZN2ge16aclgrphProfStartEPNS_17aclgrphProfConfigE");
uint32_t start(void *config)
{
    printf("vendor start %d\n", config == handle);
    return 4714;
}
