/* SPDX-License-Identifier: Apache-2.0 */
#include "mlir/engine/form.h"

#include <string.h>

/* Files that people have beside a module, and take for one. */
static const struct other {
    uint8_t at, count;    /* where the bytes are that tell it, and how many                      */
    const char *bytes;
    const char *what;
    const char *advice;
} others[] = {
    { 8, 4, "IREE", "a program that IREE has compiled (.vmfb)",
      "varve annotate --read shows its annotations" },
    { 30, 9, "module.fb", "a program that IREE has compiled (.vmfb)",
      "varve annotate --read shows its annotations" },
    { 0, 4, "PK\3\4", "a zip archive, as .pt2 and .keras are",
      "export it as MLIR with the framework that wrote it" },
    { 4, 4, "TFL3", "a TensorFlow Lite model", "annotate the MLIR that it was made from" },
    { 0, 9, "HloModule", "XLA's HLO text",
      "write StableHLO: jax.jit(f).lower(...).as_text(debug_info=True)" },
    { 0, 3, "\xef\xbb\xbf", "text behind a byte-order mark, which MLIR's own tools refuse",
      "take it away: tail -c +4 FILE >OUT" },
    { 0, 2, "\x1f\x8b", "compressed by gzip", "decompress it: gzip -dk FILE" },
    { 0, 4, "\x28\xb5\x2f\xfd", "compressed by zstd", "decompress it: zstd -dk FILE" },
    { 0, 4, "\x7f""ELF", "a compiled program", "give the MLIR that it was made from" },
    { 0, 4, "BC\xc0\xde", "LLVM bitcode", "give the MLIR that it was made from" },
    { 0, 4, "IRPF", "a profile of IREE (.ireeprof)",
      "it is the trace: varve annotate MODULE FILE" },
    { 0, 2, "{\"", "JSON", "if it is the trace: varve annotate MODULE FILE" },
    { 0, 2, "[{", "JSON", "if it is the trace: varve annotate MODULE FILE" },
    { 0, 1, "<", "HTML or XML", "give an MLIR file" },
};

/* A protobuf file whose fields are those of an ONNX model: 1, the version of its IR, and then
 * fields of its own (2 producer … 7 graph, 8 operator sets), each at most once so early. */
static bool is_onnx(const uint8_t *bytes, uint64_t count)
{
    if (count < 4 || bytes[0] != 0x08 || bytes[1] == 0 || bytes[1] > 0x7f)
        return false;
    unsigned key = bytes[2];
    return key == 0x12 || key == 0x1a || key == 0x22 || key == 0x3a || key == 0x42;
}

/* MLIR text has no control characters but blanks, and is not empty. */
static const uint8_t *find_control(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r')
            return bytes + i;
    return NULL;
}

enum varve_code vv_mlir_form_of(const char *path, const char *text, uint64_t bytes,
                                enum vv_mlir_form *out_form, struct varve_error *error)
{
    if (bytes >= 4 && memcmp(text, "ML\xefR", 4) == 0) {
        *out_form = VV_MLIR_BYTECODE;
        return VARVE_OK;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        const struct other *other = &others[i];
        if (bytes >= (uint64_t)other->at + other->count &&
            memcmp(text + other->at, other->bytes, other->count) == 0)
            VV_FAIL_SAID(error, VARVE_CORRUPT, "%s is no MLIR module, but %s; %s", path,
                         other->what, other->advice);
    }
    if (is_onnx((const uint8_t *)text, bytes))
        VV_FAIL_SAID(error, VARVE_CORRUPT,
                     "%s is no MLIR module, but an ONNX model; import it with torch-mlir's "
                     "onnx_importer and print it with get_asm(enable_debug_info=True)",
                     path);
    uint64_t head = bytes < 65536 ? bytes : 65536;
    const uint8_t *control = find_control((const uint8_t *)text, head);
    if (control != NULL)
        return vv_with_next(
            error, VV_NEXT_IS_SAID,
            vv_fail(error, VARVE_CORRUPT,
                    "%s is no MLIR module: neither text (it has byte 0x%02x at %lld) nor bytecode; "
                    "give what a compiler prints with debug info",
                    path, *control, (long long)(control - (const uint8_t *)text)));
    if (bytes == 0)
        VV_FAIL_SAID(error, VARVE_CORRUPT,
                     "%s is no MLIR module: it is empty; did the program that wrote it fail?",
                     path);
    *out_form = VV_MLIR_TEXT;
    return VARVE_OK;
}
