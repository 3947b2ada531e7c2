/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_varve_stream.c — any bytes as a thread's stream file, beside good metadata. Where they are
 * accepted, the laws of model/model.h hold. To reach the records, the sizes and the magic of the first
 * packet are repaired unless the first byte is odd. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctf/layout.h"
#include "import/importer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char folder[64], stream_path[96];

static const char metadata[] =
    "/* CTF 1.8 */\n"
    "typealias integer { size = 32; align = 32; } := u32;\n"
    "typealias integer { size = 64; align = 64; } := u64;\n"
    "env { varve_format = 1; pid = 1; };\nclock { freq = 2445428000; offset_s = 1763700000; };\n"
    "event { id = 40; name = \"later\"; fields := struct { u32 n; u64 items[n]; string s; }; };\n"
    "event { id = 64; name = \"b\"; model.emf.uri = \"varve:begin?layer=OP&line=1&file=a.c\"; };\n"
    "event { id = 65; name = \"n\"; model.emf.uri = \"varve:next?layer=STEP\"; };\n"
    "event { id = 66; name = \"m\"; model.emf.uri = \"varve:mark?layer=API\"; };\n"
    "event { id = 67; name = \"c\"; model.emf.uri = \"varve:counter?layer=METRIC\"; };\n"
    "event { id = 68; name = \"a\"; model.emf.uri = \"varve:async_begin?layer=DEVICE\"; };\n"
    "event { id = 69; name = \"a\"; model.emf.uri = \"varve:async_end?layer=DEVICE\"; };\n"
    "event { id = 70; name = \"f\"; model.emf.uri = \"varve:flow_out?layer=COMM\"; };\n"
    "event { id = 71; name = \"f\"; model.emf.uri = \"varve:flow_in?layer=COMM\"; };\n";

static void write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        exit(1);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static void remove_folder(void)
{
    nftw(folder, remove_one, 4, FTW_DEPTH | FTW_PHYS);
}

static void make_folder(void)
{
    char path[96];
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/varve-fuzz-XXXXXX", where != NULL ? where : "/tmp");
    if (mkdtemp(folder) == NULL)
        exit(1);
    atexit(remove_folder);
    snprintf(path, sizeof path, "%s/metadata", folder);
    write_file(path, metadata, strlen(metadata));
    snprintf(stream_path, sizeof stream_path, "%s/thread.1.0", folder);
}

static void repair(uint8_t *data, size_t size)
{
    struct vv_packet_header header;
    if (size < sizeof header || data[0] % 2 != 0)
        return;
    memcpy(&header, data, sizeof header);
    header.magic = VV_CTF_MAGIC;
    header.stream_class = 0;
    header.stream_instance = 1;
    header.content_bits = header.packet_bits = size / 8 * 64;
    header.begin_ticks >>= 8;
    memcpy(data, &header, sizeof header);
}

static void check_laws(const struct vv_model *model)
{
    const struct vv_slices *slices = &model->slices;
    for (uint32_t row = 0; row < slices->table.count; row++) {
        if (slices->self_ns[row] < 0 || slices->self_ns[row] > slices->duration_ns[row])
            abort();
        if (slices->parent[row] != VV_NONE && slices->parent[row] >= row)
            abort();
        if (slices->begin_ns[row] < model->run.begin_ns ||
            slices->begin_ns[row] + slices->duration_ns[row] > model->run.end_ns)
            abort();
    }
    for (uint32_t step = 0; step < model->steps.table.count; step++) {
        uint32_t slice = model->steps.slice[step];
        if (slice == VV_NONE || slices->duration_ns[slice] != model->steps.duration_ns[step])
            abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_model *model;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    if (folder[0] == '\0')
        make_folder();
    if (size > 0)
        memcpy(copy, data, size);
    repair(copy, size);
    write_file(stream_path, copy, size);
    if (vv_import(folder, &model, NULL) == VARVE_OK) {
        check_laws(model);
        vv_model_destroy(model);
    }
    free(copy);
    return 0;
}
