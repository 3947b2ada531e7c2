/* SPDX-License-Identifier: Apache-2.0 */
/* pgle.c — writes XLA's ProfiledInstructionsProto, as text or binary: `costs`, one for each
 * instruction, the mean of its executions in µs. `latencies` are not measured and are left out; XLA
 * then takes an asynchronous start's cost. */
#include <endian.h>
#include <string.h>

#include "export/output/format.h"
#include "export/pgle/pgle.h"

enum { COSTS = 1, NAME = 1, COST_US = 2 }; /* fields of the message                             */

struct cost {
    const char *name;
    double us;
};

static void write_string(FILE *stream, const char *text)
{
    fputc('"', stream);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(stream, "\\%c", c);
        else if (c < ' ' || c == 0x7f)
            fprintf(stream, "\\%03o", c);
        else
            fputc(c, stream);
    }
    fputc('"', stream);
}

static void write_text(FILE *stream, const struct cost *cost)
{
    fputs("costs {\n  name: ", stream);
    write_string(stream, cost->name);
    fprintf(stream, "\n  cost_us: %.17g\n}\n", cost->us);
}

static void write_varint(FILE *stream, uint64_t value)
{
    for (; value > 127; value >>= 7)
        fputc((int)(value & 127) | 128, stream);
    fputc((int)value, stream);
}

static size_t varint_bytes(uint64_t value)
{
    size_t bytes = 1;
    while ((value >>= 7) > 0)
        bytes++;
    return bytes;
}

static void write_binary(FILE *stream, const struct cost *cost)
{
    size_t length = strlen(cost->name);
    uint64_t bits;
    memcpy(&bits, &cost->us, sizeof bits);
    bits = htole64(bits);
    write_varint(stream, COSTS << 3 | 2);
    write_varint(stream, 1 + varint_bytes(length) + length + 1 + sizeof bits);
    write_varint(stream, NAME << 3 | 2);
    write_varint(stream, length);
    fwrite(cost->name, 1, length, stream);
    write_varint(stream, COST_US << 3 | 1);
    fwrite(&bits, sizeof bits, 1, stream);
}

static bool is_same_execution(const struct vv_pgle_piece *left, const struct vv_pgle_piece *right)
{
    return left->execution != 0 && left->execution == right->execution &&
           left->process == right->process;
}

/* The mean over executions, each of which is the union of its pieces. */
static double mean_us(const struct vv_pgle_piece *pieces, size_t count)
{
    uint64_t executions = 0;
    double sum_ns = 0;
    for (size_t i = 0; i < count;) {
        int64_t covered_ns = 0, until_ns = INT64_MIN;
        size_t first = i;
        do {
            int64_t from_ns = pieces[i].begin_ns > until_ns ? pieces[i].begin_ns : until_ns;
            if (pieces[i].end_ns > from_ns)
                covered_ns += pieces[i].end_ns - from_ns;
            if (pieces[i].end_ns > until_ns)
                until_ns = pieces[i].end_ns;
            i++;
        } while (i < count && is_same_execution(&pieces[first], &pieces[i]));
        sum_ns += (double)covered_ns;
        executions++;
    }
    return sum_ns / (double)executions / 1000.0;
}

static bool is_shared(const struct vv_pgle_piece *pieces, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (pieces[i].program != pieces[0].program)
            return true;
    return false;
}

static bool is_binary(const char *path)
{
    size_t length = strlen(path);
    return length >= 3 && strcmp(path + length - 3, ".pb") == 0;
}

static enum varve_code write_pgle(const struct vv_model *model, const char *path, FILE *stream,
                                  struct vv_export_counts *out_counts, struct varve_error *error)
{
    struct vv_pgle pgle;
    VV_TRY(vv_pgle_take(model, &pgle, error));
    for (size_t i = 0, next; i < pgle.count; i = next) {
        for (next = i + 1; next < pgle.count && pgle.pieces[next].name == pgle.pieces[i].name;)
            next++;
        struct cost cost = { vv_intern_text(&pgle.strings, pgle.pieces[i].name),
                             mean_us(&pgle.pieces[i], next - i) };
        (is_binary(path) ? write_binary : write_text)(stream, &cost);
        out_counts->costs++;
        out_counts->shared_names += is_shared(&pgle.pieces[i], next - i);
    }
    uint64_t on_host = pgle.on_host;
    bool is_empty = pgle.count == 0;
    vv_pgle_deinit(&pgle);
    if (is_empty && on_host > 0)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "all %llu executions of XLA's instructions in this trace are on the CPU, "
                     "whose compiler reads no such profile; record a run on a GPU or TPU",
                     (unsigned long long)on_host);
    if (is_empty)
        VV_FAIL_SAID(error, VARVE_UNSUPPORTED,
                     "no instruction of XLA in this trace (statistic hlo_op on a GPU or TPU); "
                     "record it with jax.profiler or TensorFlow's profiler");
    return VARVE_OK;
}

const struct vv_exporter vv_exporter_pgle = {
    .name = "pgle",
    .title = "costs of instructions for XLA's scheduler (PGLE)",
    .extension = ".pbtxt",
    .write = write_pgle,
};
