/* SPDX-License-Identifier: Apache-2.0 */
/* mlir.c — how long a module of MLIR takes to be read, annotated and written as text, and how much
 * memory.
 *
 *     build/bench/mlir [-r ROUNDS]
 *
 * One module has a million operations, each with a location of its own, and each gets an annotation
 * of all fields. The other has four operations and 183 MB of weights, all of whose operations get
 * one. Each round is a process of its own, which maps the file, as varve annotate does, and writes
 * another one; of the rounds the fastest counts. Its memory is what it holds at its end, when it
 * has given nothing back; the pages of the mapped file are told apart. Wanted: 4 s for the million;
 * 2 s and 100 MB beside the file for the weights. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mlir/write/write.h"

#define OPERATIONS 1000000u
#define OUTPUT "build/bench_mlir_out.mlir"
#define WEIGHT_BYTES UINT64_C(183000000)

struct result {
    double read_s, write_s, processor_s, anonymous_bytes, file_bytes;
    bool is_done;
};

static double now_s(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- the modules ---- */

static void write_million(FILE *out)
{
    fputs("module {\n  func.func @main(%arg0: tensor<8x8xf32>) -> tensor<8x8xf32> {\n", out);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        fprintf(out, "    %%%" PRIu32 " = \"tf.MatMul\"(%%arg0, %%arg0) {device = \"/CPU:0\", "
                "transpose_a = false, transpose_b = false} : (tensor<8x8xf32>, tensor<8x8xf32>) -> "
                "tensor<8x8xf32> loc(#loc%" PRIu32 ")\n", i, i + 10);
    fputs("    return %arg0 : tensor<8x8xf32> loc(unknown)\n  } loc(unknown)\n} loc(unknown)\n"
          "#loc1 = loc(\"model.py\":32:1)\n#loc2 = loc(\"model.py\":90:1)\n"
          "#loc3 = loc(callsite(#loc1 at #loc2))\n", out);
    for (uint32_t i = 0; i < OPERATIONS; i++)
        fprintf(out, "#loc%" PRIu32 " = loc(fused[\"MatMul:\", \"block%" PRIu32 "/MatMul_%" PRIu32
                "\"(#loc3)])\n", i + 10, i / 100, i);
}

static void write_weights(FILE *out)
{
    char digits[4096];
    for (size_t i = 0; i < sizeof digits; i++)
        digits[i] = "0123456789ABCDEF"[i * 7919 % 16];
    fputs("module {\n  func.func @net(%arg0: tensor<4xf32>) -> tensor<4xf32> {\n"
          "    %0 = torch.vtensor.literal(dense_resource<w> : tensor<4xf32>) : "
          "!torch.vtensor<[4],f32> loc(\"w\")\n"
          "    return %arg0 : tensor<4xf32> loc(\"net\")\n  } loc(\"net\")\n} loc(\"net\")\n\n"
          "{-#\n  dialect_resources: { builtin: { w: \"0x", out);
    for (uint64_t at = 0; at < WEIGHT_BYTES; at += sizeof digits)
        fwrite(digits, 1, sizeof digits, out);
    fputs("\" } }\n#-}\n", out);
}

/* ---- one round, in a child ---- */

static struct vv_mlir_mark *make_marks(const struct vv_mlir_module *module)
{
    struct vv_mlir_mark *marks = calloc(module->op_count, sizeof *marks);
    for (uint32_t row = 0; row < module->op_count && marks != NULL; row++) {
        marks[row].op = row;
        strcpy(marks[row].annotation.match, "name");
        for (int field = 0; field < VV_MLIR_FIELD_COUNT; field++)
            vv_mlir_set(&marks[row].annotation, (enum vv_mlir_field)field,
                        INT64_C(1000) * row + field);
    }
    return marks;
}

/* "RssAnon:   1234 kB" of /proc/self/status. */
static double status_bytes(const char *name)
{
    char line[256];
    double kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtod(line + strlen(name), NULL);
    if (status != NULL)
        fclose(status);
    return kilobytes * 1024;
}

static struct result annotate(const char *path)
{
    struct vv_mlir_write_options options = { .attribute = NULL };
    struct result result = { 0 };
    struct vv_mlir_module module;
    struct varve_error error;
    struct stat status;
    int file = open(path, O_RDONLY);
    FILE *out = fopen(OUTPUT, "w");
    if (file < 0 || out == NULL || fstat(file, &status) != 0)
        return result;
    char *text = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    double begin = now_s(CLOCK_MONOTONIC), used = now_s(CLOCK_PROCESS_CPUTIME_ID);
    if (text == MAP_FAILED ||
        vv_mlir_read(path, text, (uint64_t)status.st_size, &module, &error) != VARVE_OK)
        return result;
    result.read_s = now_s(CLOCK_MONOTONIC) - begin;
    struct vv_mlir_mark *marks = make_marks(&module);
    begin = now_s(CLOCK_MONOTONIC);
    if (marks == NULL || vv_mlir_fields_choose(NULL, &options.fields, &error) != VARVE_OK ||
        vv_mlir_write(&module, marks, module.op_count, &options, out, &error) != VARVE_OK)
        return result;
    fflush(out);
    result.write_s = now_s(CLOCK_MONOTONIC) - begin;
    result.processor_s = now_s(CLOCK_PROCESS_CPUTIME_ID) - used;
    result.anonymous_bytes = status_bytes("RssAnon:");
    result.file_bytes = status_bytes("RssFile:");
    result.is_done = true;
    return result;
}

static struct result run_round(const char *path)
{
    struct result result = { 0 };
    int ends[2];
    if (pipe(ends) != 0)
        return result;
    pid_t child = fork();
    if (child == 0) {
        struct result own = annotate(path);
        _exit(write(ends[1], &own, sizeof own) == sizeof own ? 0 : 1);
    }
    close(ends[1]);
    if (read(ends[0], &result, sizeof result) != sizeof result)
        result.is_done = false;
    close(ends[0]);
    waitpid(child, NULL, 0);
    return result;
}

static int run(const char *name, void make(FILE *), int rounds, double wanted_s)
{
    static const char path[] = "build/bench_mlir.mlir";
    struct result best = { 0 };
    FILE *out = fopen(path, "w");
    if (out == NULL)
        return 1;
    make(out);
    long bytes = ftell(out);
    fclose(out);
    for (int i = 0; i < rounds; i++) {
        struct result result = run_round(path);
        if (!result.is_done)
            return 1;
        if (i == 0 || result.read_s + result.write_s < best.read_s + best.write_s)
            best = result;
    }
    remove(path);
    remove(OUTPUT);
    printf("%-12s %7.1f MB   read %.2f s, written %.2f s, together %.2f s of %.0f wanted, of these "
           "%.2f s of the processor   %.1f MB, and %.1f MB of the file\n",
           name, (double)bytes * 1e-6, best.read_s, best.write_s, best.read_s + best.write_s,
           wanted_s, best.processor_s, best.anonymous_bytes * 1e-6, best.file_bytes * 1e-6);
    return 0;
}

int main(int argc, char **argv)
{
    int rounds = argc == 3 && strcmp(argv[1], "-r") == 0 ? atoi(argv[2]) : 3;
    return run("operations", write_million, rounds, 4) | run("weights", write_weights, rounds, 2);
}
