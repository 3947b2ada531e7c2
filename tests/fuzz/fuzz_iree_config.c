/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_iree_config.c — any text as a configuration that a compiler dumped: nothing to choose, or
 * choices that are written whole, and a spec for what one can name. */
#include <stdlib.h>
#include <string.h>

#include "mlir/iree/root.h"
#include "mlir/iree/spec.h"

#define HOLDS(condition) ((condition) ? (void)0 : abort())

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(struct vv_iree_text part, const char *text, size_t bytes)
{
    return part.length == 0 || (part.at >= text && part.at + part.length <= text + bytes);
}

static void write_both(const struct vv_iree_config *config, struct vv_iree_choice choice)
{
    char *text = NULL, tile[128];
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);
    struct vv_iree_spec spec = { .out = out };
    HOLDS(out != NULL);
    vv_iree_config_write(config, choice, out);
    vv_iree_choice_text(config, choice, tile, sizeof tile);
    if (vv_iree_has_spec(config))
        vv_iree_spec_add(&spec, config, choice);
    vv_iree_spec_end(&spec);
    HOLDS(fclose(out) == 0 && bytes > 0);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_iree_choice choices[VV_IREE_CHOICES_MAX];
    struct vv_iree_config config;
    const char *why;
    char *text = malloc(size + 1);
    HOLDS(text != NULL);
    memcpy(text, data, size);
    text[size] = '\0';
    size_t bytes = strlen(text);
    if (vv_iree_config_read(text, bytes, &config, &why)) {
        const struct vv_iree_root *root = &config.root;
        const struct vv_iree_text parts[] = { root->kind, root->inputs, root->loops, root->result,
                                              root->body, root->lowering, root->translation };
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            HOLDS(is_within(parts[i], text, bytes));
        HOLDS(config.outer < config.inner && config.inner < config.loops);
        size_t count = vv_iree_choices(&config, choices);
        HOLDS(count <= VV_IREE_CHOICES_MAX);
        if (count > 0)
            write_both(&config, choices[0]);
    } else {
        HOLDS(why != NULL);
    }
    free(text);
    return 0;
}
