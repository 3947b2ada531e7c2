/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_page.c — the control page of another process, which may belong to an attacker.
 *
 * Whoever owns the folder can put anything at the page's name, and hold its lock for ever. So the
 * file is opened without blocking and compared with the one that the process has mapped, and the
 * wait for its lock is limited to little more than a switch takes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/folder.h"
#include "cli/recording/recorded_processes.h"

#define LOCK_WAIT_NS UINT64_C(300000000) /* a switch needs only microseconds */
#define LOCK_RETRY_NS 2000000
#define HAND_OVER_WAIT_NS UINT64_C(300000000)

/* ---- the lock ---- */

/* Finds the holder in /proc/locks: "1: FLOCK  ADVISORY  WRITE 4711 fe:00:1311 0 EOF". 0: it is not
 * there. */
static pid_t find_holder(int file)
{
    struct stat status;
    char *line = NULL;
    size_t capacity = 0;
    int holder = 0;
    FILE *locks = fstat(file, &status) == 0 ? fopen("/proc/locks", "re") : NULL;
    while (locks != NULL && holder <= 0 && getline(&line, &capacity, locks) > 0) {
        unsigned high, low;
        unsigned long long inode;
        int pid = 0;
        if (sscanf(line, "%*s FLOCK %*s %*s %d %x:%x:%llu", &pid, &high, &low, &inode) == 4 &&
            makedev(high, low) == status.st_dev && inode == status.st_ino)
            holder = pid;
    }
    free(line);
    if (locks != NULL)
        fclose(locks);
    return holder > 0 ? (pid_t)holder : 0;
}

static enum varve_code fail_locked(int pid, int file, struct varve_error *error)
{
    struct stat status;
    char program[16], path[32];
    pid_t holder = find_holder(file);
    snprintf(path, sizeof path, "/proc/%d", (int)holder);
    if (holder == 0 || stat(path, &status) != 0)
        VV_FAIL(error, VARVE_PERMISSION,
                "the control page of process %d is locked, by whom the system does not tell: only "
                "varve locks it, and for an instant. Try again",
                pid);
    vv_recorded_program(holder, program);
    VV_FAIL(
        error, VARVE_PERMISSION,
        "the control page of process %d is locked by process %d (%s) of user %u, which keeps it: "
        "only varve locks it, and for an instant. End that process first",
        pid, (int)holder, program, (unsigned)status.st_uid);
}

static enum varve_code lock(int pid, int file, struct varve_error *error)
{
    const struct timespec pause = { 0, LOCK_RETRY_NS };
    uint64_t end_ns = vv_clock_monotonic_ns() + LOCK_WAIT_NS;
    while (flock(file, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            return vv_fail_errno(error, errno, "cannot lock the control page of process %d", pid);
        if (vv_clock_monotonic_ns() >= end_ns)
            return fail_locked(pid, file, error);
        nanosleep(&pause, NULL);
    }
    return VARVE_OK;
}

/* ---- the page ---- */

/* Is our mapped file the one that the process has mapped? Both are compared in the form of
 * /proc/PID/maps, because stat() gives other numbers on file systems that lie over others. */
static bool is_the_same(const struct vv_recorded *recorded, const void *page)
{
    char *line = NULL, is[VV_MAPPED_FILE_BYTES] = "";
    size_t capacity = 0;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps != NULL && *is == '\0' && getline(&line, &capacity, maps) > 0)
        if (strtoull(line, NULL, 16) == (uintptr_t)page)
            vv_recorded_file_of(line, is);
    free(line);
    if (maps != NULL)
        fclose(maps);
    return *is != '\0' && strcmp(is, recorded->page_is) == 0;
}

static enum varve_code map_page(const struct vv_recorded *recorded, bool to_write,
                                struct vv_control_access *access, struct varve_error *error)
{
    struct stat status;
    int pid = (int)recorded->pid;
    if (fstat(access->file, &status) != 0 || status.st_size < (off_t)sizeof(struct varve_control))
        VV_FAIL(error, VARVE_CORRUPT, "the control page of process %d is cut", pid);
    access->page = mmap(NULL, sizeof(struct varve_control), PROT_READ | (to_write ? PROT_WRITE : 0),
                        MAP_SHARED, access->file, 0);
    if (access->page == MAP_FAILED) {
        access->page = NULL;
        return vv_fail_errno(error, errno, "cannot map the control page of process %d", pid);
    }
    if (!is_the_same(recorded, access->page))
        VV_FAIL(error, VARVE_CORRUPT,
                "'%s/" VV_CONTROL_FILE "' is not the control page that process %d uses: "
                "somebody has put another file there",
                recorded->folder, pid);
    if (to_write)
        VV_TRY(lock(pid, access->file, error));
    if (access->page->magic != VV_CONTROL_MAGIC || access->page->version != VV_CONTROL_VERSION)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "process %d runs another version of libvarve, whose control page this "
                "varve does not know",
                pid);
    return VARVE_OK;
}

enum varve_code vv_control_access_open(const struct vv_recorded *recorded, bool to_write,
                                       struct vv_control_access *out_access,
                                       struct varve_error *error)
{
    char path[PATH_MAX + 16];
    struct vv_control_access access = { .file = -1 };
    int pid = (int)recorded->pid;
    if (!recorded->has_control)
        VV_FAIL(error, VARVE_UNSUPPORTED,
                "process %d cannot be switched from outside: it could not share its "
                "control page in '%s'",
                pid, recorded->folder);
    snprintf(path, sizeof path, "%s/" VV_CONTROL_FILE, recorded->folder);
    int failure = vv_folder_open_file(AT_FDCWD, path, to_write ? O_RDWR : O_RDONLY, &access.file);
    if (failure == EACCES || failure == EPERM)
        VV_FAIL(error, VARVE_PERMISSION,
                "the system does not let you open the control page of process %d: only "
                "the user whose process it is may see or switch its recording",
                pid);
    if (failure != 0)
        return vv_fail_errno(error, failure, "cannot open '%s', the control page of process %d",
                             path, pid);
    enum varve_code code = map_page(recorded, to_write, &access, error);
    if (code == VARVE_OK)
        *out_access = access;
    else
        vv_control_access_close(&access);
    return code;
}

void vv_control_access_close(struct vv_control_access *access)
{
    if (access->page != NULL)
        munmap(access->page, sizeof(struct varve_control));
    if (access->file >= 0)
        close(access->file);
    *access = (struct vv_control_access){ .file = -1 };
}

/* ---- what a process holds elsewhere ---- */

struct asked {
    struct vv_control_access access;
    uint32_t number; /* which hand-over was asked for */
};

/* False: there is nothing to wait for, and nothing is open. */
static bool ask(const struct vv_recorded *recorded, struct asked *out)
{
    struct varve_error why;
    if (!recorded->has_control ||
        vv_control_access_open(recorded, true, &out->access, &why) != VARVE_OK)
        return false;
    struct vv_control_page *page = out->access.page;
    uint32_t giver = __atomic_load_n(&page->giver, __ATOMIC_ACQUIRE);
    if (giver == 0 || giver != page->pid) { /* or it is the parent's, before a fork */
        vv_control_access_close(&out->access);
        return false;
    }
    out->number = __atomic_add_fetch(&page->hand_overs_asked, 1, __ATOMIC_RELEASE);
    (void)flock(out->access.file, LOCK_UN);
    return true;
}

static bool is_done(const struct asked *asked)
{
    uint32_t done = __atomic_load_n(&asked->access.page->hand_overs_done, __ATOMIC_ACQUIRE);
    return (int32_t)(done - asked->number) >= 0;
}

void vv_recorded_hand_over(const struct vv_recorded *items, size_t count)
{
    const struct timespec pause = { 0, LOCK_RETRY_NS };
    uint64_t end_ns = vv_clock_monotonic_ns() + HAND_OVER_WAIT_NS;
    struct asked *asked = calloc(count + 1, sizeof *asked);
    size_t waits = 0;
    for (size_t i = 0; asked != NULL && i < count; i++)
        waits += ask(&items[i], &asked[waits]);
    for (size_t i = 0; i < waits; i++) {
        while (!is_done(&asked[i]) && vv_clock_monotonic_ns() < end_ns)
            nanosleep(&pause, NULL);
        vv_control_access_close(&asked[i].access);
    }
    free(asked);
}
