/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c — see checkpoint.h. Called by main.c, after a step's optimizer phase. */
#include "checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <varve/varve.h>

#define MAGIC "VVTRAIN1"

/* The file's first bytes. */
struct header {
    char magic[8];
    uint64_t seed;
    int64_t step, batch;
    uint64_t count;
    uint64_t checksum; /* of the two arrays */
};

/* FNV-1a, taken float by float. */
static uint64_t checksum_add(uint64_t checksum, const float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof(bits));
        checksum = (checksum ^ bits) * UINT64_C(0x100000001b3);
    }
    return checksum;
}

static uint64_t checksum_of(const struct checkpoint *checkpoint)
{
    uint64_t checksum = UINT64_C(0xcbf29ce484222325);
    checksum = checksum_add(checksum, checkpoint->parameters, checkpoint->count);
    return checksum_add(checksum, checkpoint->velocity, checkpoint->count);
}

/* The data must be on the disk before the rename is, or a crash could leave an empty file under the
 * old name. False = errno says why. */
static bool write_all(const struct checkpoint *checkpoint, FILE *file)
{
    struct header header = { .seed = checkpoint->seed,
                             .step = checkpoint->step,
                             .batch = checkpoint->batch,
                             .count = checkpoint->count,
                             .checksum = checksum_of(checkpoint) };
    memcpy(header.magic, MAGIC, sizeof(header.magic));
    size_t count = checkpoint->count;
    return fwrite(&header, sizeof(header), 1, file) == 1 &&
           fwrite(checkpoint->parameters, sizeof(float), count, file) == count &&
           fwrite(checkpoint->velocity, sizeof(float), count, file) == count && fflush(file) == 0 &&
           fsync(fileno(file)) == 0;
}

/* False = errno says why. */
static bool write_file(const struct checkpoint *checkpoint, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool written = write_all(checkpoint, file);
    int write_errno = errno;
    if (fclose(file) == 0)
        errno = write_errno;
    else
        written = false;
    return written;
}

bool checkpoint_write(const struct checkpoint *checkpoint, const char *path)
{
    VARVE_SITE(in_place, "checkpoint", VARVE_LAYER_API);
    char *temporary;
    if (asprintf(&temporary, "%s.new", path) < 0)
        temporary = NULL; /* errno is ENOMEM */
    if (temporary != NULL && write_file(checkpoint, temporary) && rename(temporary, path) == 0) {
        varve_mark(&in_place);
        free(temporary);
        return true;
    }
    fprintf(stderr, "train: cannot write the checkpoint '%s': %s\n", path, strerror(errno));
    if (temporary != NULL)
        unlink(temporary);
    free(temporary);
    return false;
}

/* NULL, or what is wrong with the file. */
static const char *read_all(struct checkpoint *checkpoint, FILE *file)
{
    struct header header;
    size_t count = checkpoint->count;
    if (fread(&header, sizeof(header), 1, file) != 1 ||
        memcmp(header.magic, MAGIC, sizeof(header.magic)) != 0)
        return "it is not a checkpoint that train wrote";
    if (header.count != count || header.batch < 1 || header.step < 0)
        return "it belongs to another version of the network";
    if (fread(checkpoint->parameters, sizeof(float), count, file) != count ||
        fread(checkpoint->velocity, sizeof(float), count, file) != count)
        return "it ends too early";
    if (header.checksum != checksum_of(checkpoint))
        return "its checksum is wrong: the file was changed or damaged";
    checkpoint->seed = header.seed;
    checkpoint->step = header.step;
    checkpoint->batch = header.batch;
    return NULL;
}

bool checkpoint_read(struct checkpoint *checkpoint, const char *path)
{
    FILE *file = fopen(path, "rb");
    const char *why = file != NULL ? read_all(checkpoint, file) : strerror(errno);
    if (why != NULL)
        fprintf(stderr, "train: cannot resume from '%s': %s\n", path, why);
    if (file != NULL)
        fclose(file);
    return why == NULL;
}
