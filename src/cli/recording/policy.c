/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/text/size.h"
#include "cli/line/say.h"
#include "ctf/layout.h"
#include "ctf/stream_file.h"
#include "settings/dump_signal.h"
#include "sheet/number.h"

/* A process that ends gives back the space that it had reserved, so a disk that was full then is
 * not. */
#define ROOM_AFTER_LOSS_BYTES (UINT64_C(64) << 20)

/* ---- before ---- */

static enum varve_code check_pairs(const struct vv_arguments *arguments, struct varve_error *error)
{
    if (arguments->keep != NULL && arguments->max_size != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "--keep keeps what comes last, --max-size what comes first: one of the two");
    if (arguments->keep != NULL && arguments->when_full != NULL)
        VV_FAIL(error, VARVE_INVALID,
                "--keep drops what is oldest, and needs no --when-full: leave it out");
    if (arguments->when_full != NULL && arguments->max_size == NULL)
        VV_FAIL(error, VARVE_INVALID, "--when-full wants --max-size, the size that it speaks of");
    return VARVE_OK;
}

/* The flight recorder's size may come from --max-size, which needs no unit. */
static void set_keep_text(struct vv_record_policy *policy, const char *text)
{
    struct vv_keep same;
    int length = snprintf(policy->keep_text, sizeof policy->keep_text, "%s", text);
    if (vv_keep_parse(text, &same, NULL) == VARVE_OK && length < (int)sizeof policy->keep_text)
        return;
    snprintf(policy->keep_text, sizeof policy->keep_text, "%llu%s",
             (unsigned long long)(policy->keep.ns != 0 ? policy->keep.ns : policy->keep.bytes),
             policy->keep.ns != 0 ? "ns" : "B");
}

enum varve_code vv_record_policy_read(const struct vv_arguments *arguments,
                                      struct vv_record_policy *out_policy,
                                      struct varve_error *error)
{
    int signal;
    struct vv_record_policy policy = { .max_size = "", .when_full = "", .dump_on = "" };
    VV_TRY(check_pairs(arguments, error));
    if (arguments->keep != NULL)
        VV_TRY_NOTE(vv_keep_parse(arguments->keep, &policy.keep, error), error, "--keep");
    if (arguments->max_size != NULL)
        VV_TRY_NOTE(vv_size_parse(arguments->max_size, &policy.max_bytes, error), error,
                    "--max-size");
    if (arguments->reserve != NULL)
        VV_TRY_NOTE(vv_reserve_parse(arguments->reserve, &policy.reserve, error), error,
                    "--reserve");
    if (arguments->dump_on != NULL)
        VV_TRY_NOTE(vv_dump_signal_parse(arguments->dump_on, &signal, error), error, "--dump-on");
    bool says_when_full = arguments->when_full != NULL;
    if (says_when_full && policy.max_bytes == 0)
        VV_FAIL(error, VARVE_INVALID,
                "--max-size 0 is no limit, and --when-full has nothing to speak of");
    if (says_when_full && strcmp(arguments->when_full, "drop-oldest") == 0) {
        policy.keep.bytes = policy.max_bytes;
        policy.max_bytes = 0;
        set_keep_text(&policy, arguments->max_size);
    } else {
        policy.grow = says_when_full && strcmp(arguments->when_full, "grow") == 0;
        policy.max_size = arguments->max_size != NULL ? arguments->max_size : "";
        policy.when_full = says_when_full ? arguments->when_full : "";
    }
    if (arguments->keep != NULL)
        set_keep_text(&policy, arguments->keep);
    policy.dump_on = arguments->dump_on != NULL ? arguments->dump_on : "";
    policy.reserve_text = arguments->reserve != NULL ? arguments->reserve : "";
    *out_policy = policy;
    return VARVE_OK;
}

void vv_record_policy_begin(struct vv_record_policy *policy, const char *trace)
{
    struct statvfs disk;
    if (policy->reserve.is_said || statvfs(trace, &disk) != 0)
        return;
    snprintf(policy->standard_reserve, sizeof policy->standard_reserve, "%llu",
             (unsigned long long)vv_reserve_bytes(&policy->reserve,
                                                  (uint64_t)disk.f_blocks * disk.f_frsize,
                                                  (uint64_t)disk.f_bavail * disk.f_frsize));
    policy->reserve_text = policy->standard_reserve;
}

/* ---- after ---- */

/* The bytes on the disk of the streams of one process. */
static uint64_t size_of_streams(int trace, const char *name)
{
    uint64_t bytes = 0;
    struct stat status;
    int file = openat(trace, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = file >= 0 ? fdopendir(file) : NULL;
    if (folder == NULL) {
        if (file >= 0)
            close(file);
        return 0;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder))
        if (vv_stream_file_is(entry->d_name) && fstatat(file, entry->d_name, &status, 0) == 0)
            bytes += (uint64_t)status.st_blocks * 512;
    closedir(folder);
    return bytes;
}

/* The largest process of the trace; *out_above is the number of processes larger than `limit`. */
static uint64_t largest_process(const char *trace, uint64_t limit, uint64_t *out_above)
{
    uint64_t largest = 0;
    DIR *folder = opendir(trace);
    *out_above = 0;
    if (folder == NULL)
        return 0;
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        uint64_t bytes = vv_stream_folder_pid(entry->d_name) != 0
                             ? size_of_streams(dirfd(folder), entry->d_name)
                             : 0;
        *out_above += bytes > limit;
        largest = bytes > largest ? bytes : largest;
    }
    closedir(folder);
    return largest;
}

void vv_record_policy_say_grown(const struct vv_record_policy *policy, const char *trace)
{
    uint64_t count = 0,
             largest = policy->grow ? largest_process(trace, policy->max_bytes, &count) : 0;
    char size[VV_NUMBER_BYTES];
    if (count == 0)
        return;
    vv_number_bytes((int64_t)largest, size, sizeof size);
    vv_say("%llu process%s grew past --max-size %s, %sto %s; nothing was dropped for it",
           (unsigned long long)count, count == 1 ? "" : "es", policy->max_size,
           count == 1 ? "" : "at most ", size);
}

bool vv_record_policy_say_room(const char *trace, uint64_t bytes)
{
    struct statvfs disk;
    char room[VV_NUMBER_BYTES];
    if (statvfs(trace, &disk) != 0 || disk.f_bavail >= bytes / disk.f_frsize)
        return false;
    vv_number_bytes((int64_t)(disk.f_bavail * disk.f_frsize), room, sizeof room);
    vv_say("the disk is full, or was: %s are left where the trace lies; -o NAME.varve names "
           "another place",
           room);
    return true;
}

/* Says how large the reserve is, if records were lost because of it. */
static bool say_reserve(const struct vv_model *model)
{
    uint64_t reserve = 0;
    char size[VV_NUMBER_BYTES];
    for (uint64_t p = 0; p < model->processes.table.count; p++)
        if (model->processes.lost[p] > 0 && model->processes.reserve_bytes[p] > reserve)
            reserve = model->processes.reserve_bytes[p];
    if (reserve == 0)
        return false;
    vv_number_bytes((int64_t)reserve, size, sizeof size);
    vv_say("nothing was recorded while less than %s of the disk were free: --reserve SIZE leaves "
           "less to others, "
           "-o NAME.varve names another place",
           size);
    return true;
}

void vv_record_policy_say_lost(const struct vv_record_policy *policy, const char *trace,
                               const struct vv_model *model)
{
    uint64_t count = 0;
    if (say_reserve(model))
        return;
    if (policy->max_bytes != 0 && !policy->grow &&
        largest_process(trace, UINT64_MAX, &count) + 2 * VV_PACKET_BYTES > policy->max_bytes)
        vv_say("--max-size %s was full: --when-full grow keeps all, --when-full drop-oldest what "
               "comes "
               "last",
               policy->max_size);
    else
        vv_record_policy_say_room(trace, ROOM_AFTER_LOSS_BYTES);
}

bool vv_record_policy_forgot(const struct vv_model *model)
{
    for (uint64_t row = 0; row < model->processes.table.count; row++)
        if (model->processes.forgot[row] != 0)
            return true;
    return false;
}
