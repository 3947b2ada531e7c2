/* SPDX-License-Identifier: Apache-2.0 */
/* test_faults_pack.c — the n-th allocation of packing, unpacking and comparing fails, for every n:
 * each time the answer is VARVE_NO_MEMORY, and after all of them the files are as they would have
 * been. Leaks show in the sanitizer build. The build wraps malloc, calloc and realloc for programs
 * of this name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ctf/layout.h"
#include "ctf/pack/write.h"
#include "needs_zstd.h"

#define BYTES 4096

static char folder[] = "/tmp/varve-pack-XXXXXX";
static char plain_path[64], packed_path[64], again_path[64];
static long allocations_left = -1; /* before one fails; -1 = none does                          */

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);

static int fails_now(void)
{
    return allocations_left >= 0 && allocations_left-- == 0;
}

void *__wrap_malloc(size_t bytes)
{
    return fails_now() ? NULL : __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes)
{
    return fails_now() ? NULL : __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes)
{
    return fails_now() ? NULL : __real_realloc(memory, bytes);
}

static enum varve_code run(struct varve_error *error)
{
    struct vv_packer packer = { 0 };
    uint64_t records = 0, bytes = 0;
    unlink(packed_path);
    unlink(again_path);
    enum varve_code code = vv_pack_stream(&packer, plain_path, packed_path, error);
    if (code == VARVE_OK)
        code = vv_unpack_stream(&packer, packed_path, again_path, error);
    if (code == VARVE_OK)
        code = vv_pack_compare(&packer, again_path, packed_path, &records, &bytes, error);
    vv_packer_deinit(&packer);
    if (code == VARVE_OK)
        assert_int_equal(records, (BYTES - sizeof(struct vv_packet_header)) / 8 / 2);
    return code;
}

static void each_allocation_fails_once(void **state)
{
    (void)state;
    struct varve_error error;
    long failures = 0;
    for (;; failures++) {
        assert_true(failures < 1000);
        allocations_left = failures;
        enum varve_code code = run(&error);
        if (code == VARVE_OK)
            break;
        assert_int_equal(code, VARVE_NO_MEMORY);
    }
    allocations_left = -1;
    assert_true(failures > 15);
}

static int set_up(void **state)
{
    (void)state;
    uint64_t words[BYTES / 8];
    struct vv_packet_header header = { .magic = VV_CTF_MAGIC, .content_bits = BYTES * 8,
                                       .packet_bits = BYTES * 8 };
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(plain_path, sizeof plain_path, "%s/plain", folder);
    snprintf(packed_path, sizeof packed_path, "%s/packed", folder);
    snprintf(again_path, sizeof again_path, "%s/again", folder);
    for (size_t i = 0; i < BYTES / 8; i++) /* records of one word of clock and one of value */
        words[i] = i % 2 == 0 ? vv_record_word(VV_SITE_ID_FIRST + VV_KIND_COUNTER, 1000 + i) : i;
    memcpy(words, &header, sizeof header);
    FILE *file = fopen(plain_path, "wb");
    if (file == NULL || fwrite(words, 1, BYTES, file) != BYTES)
        return -1;
    return fclose(file);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(plain_path);
    unlink(packed_path);
    unlink(again_path);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(each_allocation_fails_once) };
    if (zstd_is_missing())
        return SKIPPED;
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
