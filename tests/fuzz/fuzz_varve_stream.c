/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_varve_stream.c — any bytes as a thread's stream file, beside good metadata. Where they are
 * accepted, the laws of model/model.h hold. To reach the records, the sizes and the magic of the
 * first packet are repaired unless the first byte is odd. */
#include "../support/sentence.h"
#include "stream_folder.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
    struct varve_error error;
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL)
        return 0;
    if (size > 0)
        memcpy(copy, data, size);
    repair(copy, size);
    stream_folder_write("thread.1.0", copy, size);
    enum varve_code code = stream_folder_import(size, &model, &error);
    if (code == VARVE_OK) {
        check_laws(model);
        vv_model_destroy(model);
    } else {
        sentence_must(&error, code, size);
    }
    free(copy);
    return 0;
}
