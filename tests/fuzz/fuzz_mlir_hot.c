/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_mlir_hot.c — any text as an annotated program: its hot operations, marked, and the same
 * again: to mark twice is to mark once; and a script is written or not. */
#include <stdlib.h>
#include <string.h>

#include "mlir/hot/hot.h"

#define HOLDS(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *mark(const struct vv_mlir_module *module, const struct vv_mlir_hot *hot, size_t *size)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    HOLDS(out != NULL && vv_mlir_hot_mark(module, hot, out, NULL) == VARVE_OK);
    HOLDS(fclose(out) == 0);
    return text;
}

/* In a text that is no MLIR a dictionary may begin another operation, or be none. */
static bool is_same(const struct vv_mlir_module *a, const struct vv_mlir_module *b,
                    const struct vv_mlir_hot *hot)
{
    struct vv_mlir_entry entry;
    if (a->op_count != b->op_count)
        return false;
    for (uint32_t op = 0; op < a->op_count; op++)
        if (strcmp(vv_mlir_string(a, a->ops[op].name), vv_mlir_string(b, b->ops[op].name)) != 0 ||
            a->ops[op].parent != b->ops[op].parent ||
            (a->ops[op].body_at == 0) != (b->ops[op].body_at == 0))
            return false;
    for (size_t i = 0; i < hot->chosen; i++)
        if (b->ops[hot->ops[i].op].attributes.end == 0 ||
            !vv_mlir_find_entry(b->text, b->ops[hot->ops[i].op].attributes, "varve.hot", &entry))
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_mlir_module module, again;
    struct vv_mlir_hot hot;
    struct vv_sheet sheet;
    char *text = malloc(size + 1), *marked, *script = NULL, *twice;
    size_t marked_size, script_size, twice_size;
    HOLDS(text != NULL);
    memcpy(text, data, size);
    if (vv_mlir_read("net.mlir", text, size, &module, NULL) != VARVE_OK) {
        free(text);
        return 0;
    }
    if (vv_mlir_hot_find(&module, 0.8, &hot, NULL) == VARVE_OK) {
        HOLDS(hot.chosen > 0 && hot.chosen <= hot.op_count);
        HOLDS(vv_mlir_hot_sheet(&module, &hot, &sheet, NULL) == VARVE_OK);
        vv_sheet_deinit(&sheet);
        FILE *out = open_memstream(&script, &script_size);
        HOLDS(out != NULL);
        bool has_rules = vv_mlir_hot_script(&module, &hot, out) > 0;
        HOLDS(fclose(out) == 0 && has_rules == (script_size > 0));
        free(script);
        marked = mark(&module, &hot, &marked_size);
        if (vv_mlir_read("marked.mlir", marked, marked_size, &again, NULL) == VARVE_OK) {
            if (is_same(&module, &again, &hot)) {
                twice = mark(&again, &hot, &twice_size);
                HOLDS(twice_size == marked_size && memcmp(twice, marked, twice_size) == 0);
                free(twice);
            }
            vv_mlir_deinit(&again);
        }
        free(marked);
        vv_mlir_hot_deinit(&hot);
    }
    vv_mlir_deinit(&module);
    free(text);
    return 0;
}
