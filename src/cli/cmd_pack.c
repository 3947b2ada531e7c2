/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_pack.c — varve pack: makes a finished trace small, or plain CTF again. doc/format.md §10.
 *
 * The new trace is made beside the old one, under a hidden name, and is compared with it record by
 * record. Then the two names are exchanged at once. Until then, the old trace is not touched. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "cli/line/arguments.h"
#include "cli/line/cleanup_on_signal.h"
#include "cli/line/say.h"
#include "cli/line/trace_folder.h"
#include "ctf/pack/trace.h"
#include "sheet/number.h"

struct packing {
    const struct vv_arguments *arguments;
    char *name;     /* the trace's name, as the user wrote it                                    */
    char *absolute; /* its path, without links                                                   */
    char *hidden;   /* path of the new trace while it is made; NULL with -o                      */
    int lock;       /* the trace's lock against `varve record` and another pack; -1 = none       */
    struct vv_pack_counts counts;
};

/* ---- the input and the output ---- */

static enum varve_code find_trace(struct packing *packing, struct varve_error *error)
{
    VV_TRY(vv_locate_trace(packing->arguments, &packing->name, error));
    packing->absolute = realpath(packing->name, NULL);
    if (packing->absolute == NULL)
        return vv_fail_errno(error, errno, "cannot read '%s'", packing->name);
    if (!vv_trace_folder_is_trace(packing->absolute))
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' is not a trace folder of varve's: give the folder NAME.varve as a whole",
                packing->name);
    packing->lock = open(packing->absolute, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (packing->lock < 0)
        return vv_fail_errno(error, errno, "cannot read '%s'", packing->name);
    if (flock(packing->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "'%s' is being recorded or packed: try again when that has ended", packing->name);
    return VARVE_OK;
}

static bool is_in_place(const struct packing *packing)
{
    const char *output = packing->arguments->output;
    return output == NULL || vv_trace_folder_is_same(output, packing->absolute);
}

static enum varve_code name_hidden(struct packing *packing, struct varve_error *error)
{
    const char *slash = strrchr(packing->absolute, '/');
    int stem = (int)(slash + 1 - packing->absolute);
    if (asprintf(&packing->hidden, "%.*s.%s.pack.%ld", stem, packing->absolute, slash + 1,
                 (long)getpid()) >= 0)
        return VARVE_OK;
    packing->hidden = NULL;
    VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
}

/* ---- exchanging the traces ---- */

/* Afterwards the hidden name is that of the old trace. */
static enum varve_code change_places(const struct packing *packing, struct varve_error *error)
{
    char *aside;
    if (renameat2(AT_FDCWD, packing->hidden, AT_FDCWD, packing->absolute, RENAME_EXCHANGE) == 0)
        return VARVE_OK;
    if (errno != EINVAL && errno != ENOSYS)
        return vv_fail_errno(error, errno, "cannot replace '%s'", packing->name);
    /* This file system cannot exchange names: for an instant, no trace has the name. */
    if (asprintf(&aside, "%s.former", packing->hidden) < 0)
        VV_FAIL(error, VARVE_NO_MEMORY, "no memory for the name of the trace");
    enum varve_code code = VARVE_OK;
    if (rename(packing->absolute, aside) != 0)
        code = vv_fail_errno(error, errno, "cannot replace '%s'", packing->name);
    else if (rename(packing->hidden, packing->absolute) != 0) {
        code = vv_fail_errno(error, errno, "cannot replace '%s'", packing->name);
        rename(aside, packing->absolute);
    } else if (rename(aside, packing->hidden) != 0)
        code = vv_fail_errno(error, errno, "cannot remove the former trace, now '%s'", aside);
    free(aside);
    return code;
}

static enum varve_code pack_in_place(struct packing *packing, struct varve_error *error)
{
    struct vv_trace_folder folder;
    struct stat status;
    /* The new trace would be made in a folder of the other user, who could replace it meanwhile. */
    if (fstat(packing->lock, &status) != 0 || status.st_uid != geteuid() ||
        !vv_folder_is_safe(AT_FDCWD, packing->absolute))
        VV_FAIL(error, VARVE_PERMISSION,
                "'%s' belongs to another user, or lies in a folder of his: pack it to a place of "
                "yours,  varve pack -o OUT.varve",
                packing->name);
    VV_TRY(name_hidden(packing, error));
    VV_TRY(vv_trace_folder_make(&folder, packing->hidden, false, error));
    struct vv_pack_job job = { packing->absolute, packing->hidden, packing->arguments->unpack,
                               &vv_cleanup_signal };
    enum varve_code code = vv_pack_trace(&job, &packing->counts, error);
    if (code == VARVE_OK && packing->counts.streams > 0)
        code = change_places(packing, error);
    vv_trace_folder_undo(&folder); /* removes the old trace after a success, else the new one */
    if (code == VARVE_OK && access(packing->hidden, F_OK) == 0)
        VV_FAIL(error, VARVE_EXISTS, "cannot remove all of the former trace: it is now '%s'",
                packing->hidden);
    return code;
}

static enum varve_code pack_elsewhere(struct packing *packing, struct varve_error *error)
{
    struct vv_trace_folder folder;
    const char *output = packing->arguments->output;
    if (strcmp(output, "-") == 0)
        VV_FAIL(error, VARVE_INVALID,
                "a trace is a folder, so it cannot go to standard output: -o OUT.varve");
    VV_TRY(vv_trace_folder_make(&folder, output, false, error));
    struct vv_pack_job job = { packing->absolute, folder.absolute, packing->arguments->unpack,
                               &vv_cleanup_signal };
    enum varve_code code = vv_pack_trace(&job, &packing->counts, error);
    if (code == VARVE_OK)
        code = vv_trace_folder_keep(&folder, error);
    if (code == VARVE_OK)
        vv_trace_folder_deinit(&folder);
    else
        vv_trace_folder_undo(&folder);
    return code;
}

/* ---- messages ---- */

static void say_done(const struct packing *packing)
{
    const struct vv_pack_counts *counts = &packing->counts;
    const char *name = is_in_place(packing) ? packing->name : packing->arguments->output;
    bool unpack = packing->arguments->unpack;
    char from[VV_NUMBER_BYTES], to[VV_NUMBER_BYTES], records[VV_NUMBER_BYTES];
    if (counts->streams == 0) {
        vv_say("%s is %s already", name, unpack ? "plain" : "packed");
        return;
    }
    vv_number_bytes((int64_t)(unpack ? counts->packed_bytes : counts->plain_bytes), from,
                    sizeof from);
    vv_number_bytes((int64_t)(unpack ? counts->plain_bytes : counts->packed_bytes), to, sizeof to);
    vv_number_count((int64_t)counts->records, records, sizeof records);
    vv_say("%s %s  %s to %s  %s records, all compared", unpack ? "unpacked" : "packed",
            name, from, to, records);
}

vv_run_verb vv_cmd_pack;

int vv_cmd_pack(const struct vv_arguments *arguments)
{
    struct packing packing = { .arguments = arguments, .lock = -1 };
    struct varve_error error;
    vv_cleanup_by_verb();
    enum varve_code code = find_trace(&packing, &error);
    if (code == VARVE_OK)
        code = is_in_place(&packing) ? pack_in_place(&packing, &error)
                                     : pack_elsewhere(&packing, &error);
    if (code == VARVE_OK && !arguments->quiet)
        say_done(&packing);
    if (packing.lock >= 0)
        close(packing.lock);
    free(packing.name);
    free(packing.absolute);
    free(packing.hidden);
    if (code == VARVE_OK)
        return VV_EXIT_DONE;
    int status = vv_complain_writing(&error);
    if (code == VARVE_STATE && vv_cleanup_signal != 0)
        raise(vv_cleanup_signal);
    return status;
}
