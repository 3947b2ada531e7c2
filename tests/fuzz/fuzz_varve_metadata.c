/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_varve_metadata.c — any bytes as a process's metadata file; where they are accepted, what
 * they say holds: ids in order and in range, one kind each, and sized fields that measure the same
 * twice. */
#include <stdlib.h>

#include "../support/sentence.h"
#include "ctf/layout.h"
#include "import/varve/metadata/metadata.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_class(const struct vv_metadata_class *class)
{
    static const unsigned char payload[256] = { 3, 0, 0, 0, 2, 0, 0, 0, 'a', 0 };
    const struct vv_bytes bytes = { payload, sizeof payload };
    size_t first = 0, second = 0;
    if (class->id == 0 || class->id > VV_ID_MASK || class->name == NULL)
        abort();
    if (class->kind >= VV_SITE_KINDS && class->kind != VV_CLASS_KIND_OTHER)
        abort();
    if (class->fields == NULL || class->fields->bad_word != NULL)
        return;
    bool fits = vv_field_type_measure(class->fields, bytes, &first);
    if (fits != vv_field_type_measure(class->fields, bytes, &second) || first != second ||
        first > sizeof payload)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vv_metadata metadata;
    struct varve_error error;
    enum varve_code code = vv_metadata_read((const char *)data, size, &metadata, &error);
    if (code != VARVE_OK) {
        sentence_must(&error, code, size);
        return 0;
    }
    for (size_t i = 0; i < metadata.class_count; i++) {
        check_class(&metadata.classes[i]);
        if (i > 0 && metadata.classes[i - 1].id >= metadata.classes[i].id)
            abort();
    }
    vv_metadata_deinit(&metadata);
    return 0;
}
