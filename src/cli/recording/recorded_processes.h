/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_processes.h — processes that are being recorded now, and their control pages. Thread-compatible.
 *
 * A recorded process has its own stream of its trace mapped, and mostly its control page: /proc/PID/maps
 * names both files. doc/control.md */
#ifndef VV_CLI_RECORDING_RECORDED_PROCESSES_H
#define VV_CLI_RECORDING_RECORDED_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "ctf/control_page.h"

/* "fe:00 1311": device and inode of a mapped file. */
#define VV_MAPPED_FILE_BYTES 48

struct vv_recorded {
    pid_t pid;
    char program[16]; /* as the kernel calls it                                                 */
    char *folder;     /* of the process in its trace, absolute; owned                           */
    bool has_control; /* its page is a file that others may write                               */
    char page_is[VV_MAPPED_FILE_BYTES]; /* that file, as the kernel tells it                    */
};

struct vv_recorded_list {
    struct vv_recorded *items;
    size_t count, capacity;
};

/* Of this user: all (word NULL), the one with that number, or all of that program or trace. VARVE_NOT_FOUND
 * if a word finds none. The caller de-initialises, also on failure. */
enum varve_code vv_recorded_find(const char *word, struct vv_recorded_list *list,
                                 struct varve_error *error);
void vv_recorded_deinit(struct vv_recorded_list *list); /* idempotent */

/* The process's name, as the kernel has it: whatever its user likes. */
void vv_recorded_program(pid_t pid, char out_program[16]);

/* Device and inode of the file in a line of /proc/PID/maps. */
void vv_recorded_file_of(const char *line, char out_file[VV_MAPPED_FILE_BYTES]);

/* "train.varve", from the folder of a process in it; a part of that text, of *out_length bytes. */
const char *vv_recorded_trace(const struct vv_recorded *recorded, size_t *out_length);

/* recorded_page.c. Maps the control page; to write, locks it against other writers outside the process. Neither waits for what another
 * user does: what lies under its name must be the file that the process has mapped, and a lock that somebody keeps
 * (VARVE_PERMISSION, saying who) ends it. */
struct vv_control_access {
    int file;
    struct vv_control_page *page;
};
enum varve_code vv_control_access_open(const struct vv_recorded *recorded, bool to_write,
                                       struct vv_control_access *out_access, struct varve_error *error);
void vv_control_access_close(struct vv_control_access *access);

/* "OP,STEP", "all", "off". */
#define VV_LAYERS_TEXT_BYTES 96
void vv_layers_text(uint32_t layers, char out_text[VV_LAYERS_TEXT_BYTES]);

/* `varve start` and `varve stop`: switches each process that the operand means. Returns an exit code. */
struct vv_arguments;
VV_MUST_USE int vv_recorded_switch(const struct vv_arguments *arguments, bool is_start);

#endif
