/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/process_facts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system/folder.h"
#include "ctf/metadata_write.h"
#include "import/varve/metadata/metadata.h"

static size_t read_head(const char *folder, char *text, size_t capacity)
{
    char *path;
    size_t length = 0;
    if (asprintf(&path, "%s/metadata", folder) < 0)
        return 0;
    if (vv_folder_read(AT_FDCWD, path, text, capacity, &length) != 0)
        length = 0;
    free(path);
    return length;
}

void vv_process_facts_read(const char *folder, struct vv_process_facts *out_facts)
{
    struct vv_metadata metadata;
    char *text = malloc(VV_TSDL_PROLOGUE_BYTES_MAX); /* env and clock come before the call sites */
    size_t length = text != NULL ? read_head(folder, text, VV_TSDL_PROLOGUE_BYTES_MAX) : 0;
    memset(out_facts, 0, sizeof *out_facts);
    if (length > 0 && vv_metadata_read(text, length, &metadata, NULL) == VARVE_OK) {
        out_facts->keep.bytes = metadata.keep_bytes > 0 ? (uint64_t)metadata.keep_bytes : 0;
        out_facts->keep.ns = metadata.keep_ns > 0 ? (uint64_t)metadata.keep_ns : 0;
        snprintf(out_facts->storage, sizeof out_facts->storage, "%s", metadata.storage);
        vv_metadata_deinit(&metadata);
    }
    free(text);
}
