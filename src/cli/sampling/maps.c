/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/sampling/maps.h"

#include <elf.h>
#include <inttypes.h>
#include <string.h>

#include "base/array.h"

void vv_sample_forget(struct vv_sample_maps *maps, pid_t pid)
{
    size_t kept = 0;
    for (size_t i = 0; i < maps->count; i++)
        if (maps->items[i].pid != pid)
            maps->items[kept++] = maps->items[i];
    maps->count = kept;
}

/* What to add to an offset in the file to get the address that its segments have. */
static int64_t slide_of(const char *path, uint64_t offset)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    int64_t slide = 0;
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return 0;
    bool is_elf = fread(&head, sizeof head, 1, file) == 1 &&
                  memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
                  head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof segment &&
                  head.e_phoff <= INT32_MAX && fseek(file, (long)head.e_phoff, SEEK_SET) == 0;
    for (unsigned i = 0; is_elf && i < head.e_phnum; i++)
        if (fread(&segment, sizeof segment, 1, file) != 1)
            break;
        else if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0 &&
                 offset + 0xfff >= segment.p_offset &&
                 offset < segment.p_offset + segment.p_filesz)
            slide = (int64_t)(segment.p_vaddr - segment.p_offset);
    fclose(file);
    return slide;
}

/* "7f01-7f09 r-xp 00001000 fe:00 123   /usr/lib/libm.so.6" */
static enum varve_code add_line(struct vv_sample_maps *maps, struct vv_samples *samples, pid_t pid,
                                const char *line, struct varve_error *error)
{
    struct vv_sample_mapping mapping = { .pid = pid };
    uint64_t offset;
    char access[8];
    int path_at = 0;
    if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &mapping.begin,
               &mapping.end, access, &offset, &path_at) < 4 ||
        access[2] != 'x')
        return VARVE_OK;
    const char *path = path_at > 0 ? line + path_at : "";
    size_t length = strcspn(path, "\n");
    mapping.object = vv_sample_name(samples, path, length);
    if (mapping.object == UINT32_MAX)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of a file");
    if (*path == '/')
        mapping.slide = (int64_t)(offset - mapping.begin) +
                        slide_of(samples->names[mapping.object], offset);
    VV_TRY(vv_array_reserve(&maps->items, &maps->capacity, maps->count + 1, sizeof mapping, error));
    maps->items[maps->count++] = mapping;
    return VARVE_OK;
}

static enum varve_code read_maps(struct vv_sample_maps *maps, struct vv_samples *samples, pid_t pid,
                                 struct varve_error *error)
{
    char path[64], line[4096 + 128];
    enum varve_code code = VARVE_OK;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    vv_sample_forget(maps, pid);
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return VARVE_OK; /* it has just ended */
    while (code == VARVE_OK && fgets(line, sizeof line, file) != NULL)
        code = add_line(maps, samples, pid, line, error);
    fclose(file);
    return code;
}

static bool find(const struct vv_sample_maps *maps, struct vv_sample *sample)
{
    for (size_t i = 0; i < maps->count; i++) {
        const struct vv_sample_mapping *mapping = &maps->items[i];
        if (mapping->pid != sample->pid || sample->address < mapping->begin ||
            sample->address >= mapping->end)
            continue;
        sample->object = mapping->object;
        sample->address += (uint64_t)mapping->slide;
        return true;
    }
    return false;
}

enum varve_code vv_sample_place(struct vv_sample_maps *maps, struct vv_samples *samples,
                                struct vv_sample *sample, struct varve_error *error)
{
    if (find(maps, sample))
        return VARVE_OK;
    VV_TRY(read_maps(maps, samples, sample->pid, error));
    find(maps, sample);
    return VARVE_OK;
}
