/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_write.c — any module, annotated and tagged: the operations stay what they are, what was
 * written is read, and twice is once. */
#include <string.h>

#include "../support/mlir_laws.h"
#include "../support/mlir_writing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const char *law)
{
    if (holds)
        return;
    fprintf(stderr, "writing breaks a law: %s\n", law);
    abort();
}

static void must_be_same(const struct vv_mlir_module *old, const struct vv_mlir_module *new,
                         enum mlir_writing how)
{
    must(mlir_flaw(new) == NULL, "a module breaks a law");
    must(old->op_count == new->op_count, "the number of operations");
    for (uint32_t row = 0; row < old->op_count; row++) {
        must(strcmp(vv_mlir_string(old, old->ops[row].name),
                    vv_mlir_string(new, new->ops[row].name)) == 0, "a name");
        must(old->ops[row].parent == new->ops[row].parent, "a parent");
        if (how != MLIR_ALL)
            continue;
        struct vv_mlir_annotation read;
        uint32_t place = new->ops[row].place;
        must(place != VV_MLIR_NONE && new->places[place].part_count > 0, "a place");
        uint32_t said = new->parts[new->places[place].first_part].text;
        must(vv_mlir_annotation_read(vv_mlir_string(new, said), new->strings.lengths[said],
                                     VV_MLIR_KEY, &read), "no annotation");
        must(read.values[VV_MLIR_FIELD_count] == row, "another annotation");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum mlir_writing ways[] = { MLIR_ALL, MLIR_TAGS };
    struct vv_mlir_module module, second;
    struct varve_error error;
    if (vv_mlir_read("a", (const char *)data, size, &module, NULL) != VARVE_OK)
        return 0;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0] && module.cut_places == 0; i++) {
        size_t once, twice;
        char *text = mlir_written((const char *)data, size, ways[i], &once);
        enum varve_code code = vv_mlir_read("b", text, once, &second, &error);
        must(code == VARVE_OK, error.message);
        bool is_cut = second.cut_places > 0;
        if (!is_cut)
            must_be_same(&module, &second, ways[i]);
        vv_mlir_deinit(&second);
        bool is_named = memmem(data, size, "#varve", 6) != NULL; /* new ones are numbered on     */
        char *again = is_cut || is_named ? NULL : mlir_written(text, once, ways[i], &twice);
        must(again == NULL || (once == twice && memcmp(text, again, once) == 0), "twice is once");
        free(text);
        free(again);
    }
    vv_mlir_deinit(&module);
    return 0;
}
