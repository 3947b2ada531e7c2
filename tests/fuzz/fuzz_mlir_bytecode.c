/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_bytecode.c — any bytes as MLIR bytecode: words within the input and rows that are
 * there, or an error in one sentence; and as a text whose resources are listed. */
#include <stdlib.h>
#include <string.h>

#include "mlir/file/bytecode.h"

#include "../support/sentence.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        abort();
}

static void check_word(struct vv_mlir_word word, const char *bytes, size_t size)
{
    check(word.text >= bytes && word.text <= bytes + size);
    check(word.bytes <= (size_t)(bytes + size - word.text));
}

static void check_resources(struct vv_mlir_resources *resources, const char *bytes, size_t size)
{
    char list[256];
    struct vv_mlir_resources none = { 0 };
    for (size_t i = 0; i < resources->count; i++) {
        check_word(resources->items[i].key, bytes, size);
        check_word(resources->items[i].owner, bytes, size);
    }
    check(vv_mlir_resources_lost(resources, &none, list, sizeof list) == resources->count);
    check(vv_mlir_resources_lost(resources, resources, list, sizeof list) == 0);
    check(list[0] == '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[4] = { 'M', 'L', '\xef', 'R' };
    struct vv_mlir_bytecode bytecode;
    struct vv_mlir_resources resources;
    struct varve_error error = { 0 };
    char *bytes = malloc(size + 1); /* exactly what is read, so that one byte more is seen        */
    check(bytes != NULL);
    memcpy(bytes, data, size);
    if (size >= sizeof magic && (size % 8 != 0 || memcmp(bytes, "{", 1) != 0))
        memcpy(bytes, magic, sizeof magic);
    enum varve_code code = vv_mlir_bytecode_read(bytes, size, &bytecode, &error);
    if (code == VARVE_OK) {
        uint64_t ops = 0;
        for (uint32_t i = 0; i < bytecode.dialect_count; i++) {
            check_word(bytecode.dialects[i].name, bytes, size);
            ops += bytecode.dialects[i].op_count;
        }
        check(ops == bytecode.op_count);
        for (uint32_t i = 0; i < bytecode.op_count; i++) {
            check_word(bytecode.ops[i].name, bytes, size);
            check(bytecode.ops[i].dialect < bytecode.dialect_count);
        }
        check_word(bytecode.producer, bytes, size);
        check_resources(&bytecode.resources, bytes, size);
        (void)vv_mlir_bytecode_is_vhlo(&bytecode);
        vv_mlir_bytecode_deinit(&bytecode);
    } else {
        sentence_must(&error, code, size);
    }
    if (vv_mlir_resources_read(bytes, size, &resources, &error) == VARVE_OK) {
        check_resources(&resources, bytes, size);
        vv_mlir_resources_deinit(&resources);
    }
    free(bytes);
    return 0;
}
