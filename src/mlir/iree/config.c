/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/iree/root.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TILE "vector_common_parallel = ["
#define DISTRIBUTION "distribution = [" /* of the root operation alone */
#define CACHE "cache_parallel = ["
#define FACTOR_MAX 32
#define TILE_VALUES 96 /* of f32: about what the registers of 256 and of 512 bits hold            */

/* "3, 1, 0]": up to LOOPS_MAX numbers; 0: not a list of numbers. *out_end: behind the ']'. */
static uint32_t read_list(const char *text, int64_t numbers[VV_IREE_LOOPS_MAX],
                          const char **out_end)
{
    uint32_t count = 0;
    while (count < VV_IREE_LOOPS_MAX) {
        char *end;
        long long number = strtoll(text, &end, 10);
        if (end == text || number < 0 || number > INT32_MAX)
            return 0;
        numbers[count++] = number;
        if (*end == ']') {
            *out_end = end + 1;
            return count;
        }
        if (strncmp(end, ", ", 2) != 0)
            return 0;
        text = end + 2;
    }
    return 0;
}

/* The extents of the loops that make the result: "-> tensor<1x128x14x14xf32>", behind the root. */
static uint32_t read_extents(const char *root, int64_t extents[VV_IREE_LOOPS_MAX])
{
    const char *arrow = strstr(root, "-> tensor<");
    uint32_t count = 0;
    if (arrow == NULL)
        return 0;
    for (const char *at = arrow + strlen("-> tensor<"); count < VV_IREE_LOOPS_MAX;) {
        char *end;
        long long extent = strtoll(at, &end, 10);
        if (end == at || *end != 'x' || extent <= 0)
            break;
        extents[count++] = extent;
        at = end + 1;
    }
    return count;
}

bool vv_iree_config_read(const char *text, size_t bytes, struct vv_iree_config *out_config,
                         const char **out_why)
{
    struct vv_iree_config config = { .text = text, .bytes = bytes, .outer = VV_IREE_LOOPS_MAX,
                                     .inner = VV_IREE_LOOPS_MAX };
    const char *root = strstr(text, DISTRIBUTION), *end = NULL;
    const char *tile = root != NULL ? strstr(root, TILE) : NULL;
    *out_why = "its configuration has no tile to choose";
    if (tile == NULL)
        return false;
    config.root = vv_iree_root_read(text, root);
    config.has_constants = strstr(text, "dense_resource<") != NULL;
    if (config.has_constants && !vv_iree_has_spec(&config)) {
        *out_why = "the compiler dumps it without its constants, and no tuning spec can name it";
        return false;
    }
    uint32_t distributed = read_list(root + strlen(DISTRIBUTION), config.distribution, &end);
    config.loops = read_list(tile + strlen(TILE), config.tile, &end);
    if (config.loops == 0 || distributed != config.loops)
        return false;
    uint32_t extents = read_extents(tile, config.extent);
    for (uint32_t i = 0; i < extents && i < config.loops; i++) {
        if (config.tile[i] <= 1)
            continue;
        config.outer = config.inner;
        config.inner = i;
    }
    if (config.outer >= VV_IREE_LOOPS_MAX)
        return false;
    *out_config = config;
    *out_why = NULL;
    return true;
}

/* ---- alternatives ---- */

static double cost_of(const struct vv_iree_config *config, struct vv_iree_choice choice)
{
    bool has_rest = config->extent[config->outer] % choice.outer != 0 ||
                    config->extent[config->inner] % choice.inner != 0;
    double values = (double)(choice.outer * choice.inner);
    /* A tile of another form than the compiler's says more than one of another size. */
    double likeness = fabs(log2((double)choice.outer / (double)config->tile[config->outer])) +
                      fabs(log2((double)choice.inner / (double)config->tile[config->inner]));
    return 10 * has_rest + fabs(log2(values / TILE_VALUES)) + (likeness < 0.75 ? 1 : 0);
}

static bool is_factor(int64_t factor, int64_t extent)
{
    return factor <= extent && ((factor & (factor - 1)) == 0 || extent % factor == 0);
}

size_t vv_iree_choices(const struct vv_iree_config *config,
                       struct vv_iree_choice choices[VV_IREE_CHOICES_MAX])
{
    double costs[VV_IREE_CHOICES_MAX];
    size_t count = 0;
    for (int64_t outer = 1; outer <= FACTOR_MAX; outer++)
        for (int64_t inner = 2; inner <= FACTOR_MAX; inner++) {
            const struct vv_iree_choice choice = { outer, inner };
            bool is_chosen = outer == config->tile[config->outer] &&
                             inner == config->tile[config->inner];
            if (is_chosen || !is_factor(outer, config->extent[config->outer]) ||
                !is_factor(inner, config->extent[config->inner]))
                continue;
            double cost = cost_of(config, choice);
            size_t place = count < VV_IREE_CHOICES_MAX ? count++ : VV_IREE_CHOICES_MAX - 1;
            if (place == VV_IREE_CHOICES_MAX - 1 && count == VV_IREE_CHOICES_MAX &&
                cost >= costs[place])
                continue;
            for (; place > 0 && costs[place - 1] > cost; place--) {
                costs[place] = costs[place - 1];
                choices[place] = choices[place - 1];
            }
            costs[place] = cost;
            choices[place] = choice;
        }
    return count;
}

/* ---- writing ---- */

static void put_list(FILE *out, const int64_t *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        fprintf(out, "%s%lld", i > 0 ? ", " : "", (long long)numbers[i]);
    fputc(']', out);
}

/* A list of tiles that belongs to the root's loops: that of an operation fused with it has as many
 * numbers as it has loops. */
static void choose_tile(const struct vv_iree_config *config, struct vv_iree_choice choice,
                        int64_t *numbers, uint32_t count)
{
    if (config->inner < count && numbers[config->inner] == config->tile[config->inner])
        numbers[config->inner] = choice.inner;
    if (config->outer < count && numbers[config->outer] == config->tile[config->outer])
        numbers[config->outer] = choice.outer;
}

/* What a processor or its cache gets at a time must hold the tile. */
static void choose_around(const struct vv_iree_config *config, struct vv_iree_choice choice,
                          int64_t *numbers, uint32_t count)
{
    if (config->inner >= count)
        return;
    int64_t *outer = &numbers[config->outer], *inner = &numbers[config->inner];
    *outer = *outer != 0 && *outer < choice.outer ? choice.outer : *outer;
    *inner = *inner != 0 && *inner < choice.inner ? choice.inner : *inner;
}

/* Lists of numbers that a choice changes, by the words before them. */
static const struct {
    const char *word;
    void (*choose)(const struct vv_iree_config *, struct vv_iree_choice, int64_t *, uint32_t);
} lists[] = { { TILE, choose_tile }, { DISTRIBUTION, choose_around }, { CACHE, choose_around } };
#define LISTS (sizeof lists / sizeof *lists)

static void write_span(const struct vv_iree_config *config, struct vv_iree_choice choice,
                       struct vv_iree_text span, FILE *out)
{
    const char *at = span.at, *limit = span.at + span.length, *end;
    for (;;) {
        int64_t numbers[VV_IREE_LOOPS_MAX];
        const char *next = NULL;
        size_t which = 0;
        for (size_t i = 0; i < LISTS; i++) {
            const char *found = memmem(at, (size_t)(limit - at), lists[i].word,
                                       strlen(lists[i].word));
            if (found == NULL || (next != NULL && found > next))
                continue;
            next = found;
            which = i;
        }
        if (next == NULL)
            break;
        next += strlen(lists[which].word);
        uint32_t count = read_list(next, numbers, &end);
        fwrite(at, 1, (size_t)(next - at), out);
        at = next;
        if (count == 0)
            continue;
        lists[which].choose(config, choice, numbers, count);
        put_list(out, numbers, count);
        at = end;
    }
    fwrite(at, 1, (size_t)(limit - at), out);
}

void vv_iree_config_write_lowering(const struct vv_iree_config *config,
                                   struct vv_iree_choice choice, FILE *out)
{
    write_span(config, choice, config->root.lowering, out);
}

void vv_iree_config_write(const struct vv_iree_config *config, struct vv_iree_choice choice,
                          FILE *out)
{
    write_span(config, choice, (struct vv_iree_text){ config->text, config->bytes }, out);
}

void vv_iree_choice_text(const struct vv_iree_config *config, struct vv_iree_choice choice,
                         char *text, size_t bytes)
{
    size_t length = 0;
    for (uint32_t i = 0; i < config->loops && config->extent[i] != 0 && length < bytes; i++) {
        int64_t number = i == config->outer   ? choice.outer
                         : i == config->inner ? choice.inner
                                              : config->tile[i];
        length += (size_t)snprintf(text + length, bytes - length, "%s%lld", i > 0 ? ", " : "[",
                                   (long long)number);
    }
    if (length < bytes)
        snprintf(text + length, bytes - length, "]");
}
