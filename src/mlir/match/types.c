/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/match/types.h"

#include <string.h>

/* Words of one meaning: the first of a row stands for all. They are exact kinds. */
static const char *const families[][12] = {
    { "matmul", "mm", "bmm", "dot", "dotgeneral", "batchmatmul", "gemm", "matmultransposeb",
      "batchmatmultransposeb", "quantizedmatmul", "batchmatmultransposea", "matmultransposea" },
    { "conv", "conv1d", "conv2d", "conv3d", "convolution", "conv2dnchwfchw", "conv2dnhwchwcf",
      "convgeneraldilated", "conv2dnhwcfhwc", "convnchwc" },
    { "depthwiseconv", "depthwiseconv2d", "depthwiseconv2dnative", "depthwiseconv2dnhwchwc",
      "depthwiseconv2dnchwchw" },
    { "add", "addf", "addi", "addv", "addn", "accumulate" },
    { "subtract", "sub", "subf", "subi" },
    { "multiply", "mul", "mulf", "muli" },
    { "divide", "div", "divf", "realdiv", "truediv" },
    { "remainder", "rem", "mod", "fmod", "remf" },
    { "negate", "neg", "negf", "negative" },
    { "maximum", "max", "maximumf", "maxnumf" },
    { "minimum", "min", "minimumf", "minnumf" },
    { "exponential", "exp" },
    { "exponentialminusone", "expm1" },
    { "logplusone", "log1p" },
    { "logistic", "sigmoid" },
    { "power", "pow", "powf" },
    { "sine", "sin" },
    { "cosine", "cos" },
    { "transpose", "permute", "t" },
    { "reshape", "view", "expandshape", "collapseshape" },
    { "convert", "cast", "to", "truncf", "extf", "sitofp" },
    { "broadcast", "broadcastindim", "broadcastto", "expand", "dynamicbroadcastindim" },
    { "concatenate", "concat", "cat" },
    { "select", "where" },
    { "compare", "cmp", "cmpf", "cmpi" },
    { "iota", "arange", "range" },
    { "identity", "readvariableop" }, /* freezing makes the one of the other */
    { "slice", "stridedslice", "extractslice" },
    { "gather", "take", "indexselect", "embedding" },
    { "conditional", "if", "case" },
    { "batchnorm", "fusedbatchnorm", "batchnormalization", "nativebatchnorm" },
    { "layernorm", "layernormalization", "nativelayernorm" },
    { "maxpool", "maxpool2d", "poolingnhwcmax", "poolingnchwmax" },
    { "avgpool", "avgpool2d", "averagepool", "poolingnhwcsum" },
};

/* What these hold is said elsewhere. */
static const char *const containers[] = {
    "fusion", "customcall", "call", "copy", "bitcast", "asyncstart", "asyncdone", "asyncupdate",
    "copystart", "copydone", "tuple", "gettupleelement", "operator", "kernelanddevicefunc",
};

/* What stands before a kind: by which library it is done, and that more than one is. */
static const struct { const char *word; bool is_fused; } prefixes[] = {
    { "_MklNative", false }, { "_Mkl", false }, { "PadWith", true }, { "_Fused", true },
    { "Fused", true }, { "_", false },
};

/* What stands behind it, if more than one is done. */
static const char *const suffixes[] = { "WithBias" };

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Does text[0..bytes) begin with the word, and does more follow? */
static bool begins(const char *text, size_t bytes, const char *word)
{
    size_t length = strlen(word);
    return bytes > length && memcmp(text, word, length) == 0;
}

/* The name without what stands before it: "torch.aten.add.Tensor" -> "add", "stablehlo.add" ->
 * "add", "aten::add" -> "add". torch-mlir's names have an overload behind. */
static void cut_dialect(const char **text, size_t *bytes)
{
    const char *at = *text, *end = at + *bytes;
    bool is_torch = begins(at, *bytes, "torch.");
    unsigned dots = 0;
    for (const char *c = at; c < end; c++) {
        if (*c == ':')
            at = c + 1;
        if (*c != '.')
            continue;
        dots++;
        if (is_torch && dots == 3) {
            end = c;
            break;
        }
        at = c + 1;
    }
    *text = at;
    *bytes = (size_t)(end - at);
}

static bool cut_prefixes(const char **text, size_t *bytes)
{
    bool is_fused = false;
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i].word);
        if (!begins(*text, *bytes, prefixes[i].word) || (*text)[length] < 'A' ||
            (*text)[length] > 'Z')
            continue;
        *text += length;
        *bytes -= length;
        is_fused |= prefixes[i].is_fused;
    }
    return is_fused;
}

/* "Conv2DBackpropFilterWithBias" -> "Conv2DBackpropFilter" */
static bool cut_suffixes(const char *text, size_t *bytes)
{
    bool is_fused = false;
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        size_t length = strlen(suffixes[i]);
        if (*bytes <= length || memcmp(text + *bytes - length, suffixes[i], length) != 0)
            continue;
        *bytes -= length;
        is_fused = true;
    }
    return is_fused;
}

/* "AddV2" -> "Add". */
static void cut_version(const char *text, size_t *bytes)
{
    size_t end = *bytes;
    while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
        end--;
    if (end > 1 && end < *bytes && text[end - 1] == 'V')
        *bytes = end - 1;
}

static void set_family(struct vv_mlir_kind *kind)
{
    memcpy(kind->family, kind->exact, sizeof kind->family);
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        for (size_t j = 1; j < sizeof *families / sizeof **families && families[i][j] != NULL; j++)
            if (strcmp(families[i][j], kind->exact) == 0) {
                memset(kind->family, 0, sizeof kind->family);
                memcpy(kind->family, families[i][0], strlen(families[i][0]));
                return;
            }
}

void vv_mlir_kind_of(const char *text, size_t bytes, struct vv_mlir_kind *out)
{
    size_t length = 0;
    memset(out, 0, sizeof *out);
    cut_dialect(&text, &bytes);
    out->is_fused = cut_prefixes(&text, &bytes);
    out->is_fused |= cut_suffixes(text, &bytes);
    cut_version(text, &bytes);
    for (size_t i = 0; i < bytes && length + 1 < sizeof out->exact; i++)
        if (text[i] != '_' && text[i] != '-')
            out->exact[length++] = small(text[i]);
    for (size_t i = 0; i < sizeof containers / sizeof *containers; i++)
        if (strcmp(out->exact, containers[i]) == 0)
            memset(out->exact, 0, sizeof out->exact);
    set_family(out);
}
