/* SPDX-License-Identifier: Apache-2.0 */
/* recorded_processes.h — finds processes that are being recorded, and accesses their control pages.
 * Thread-compatible.
 *
 * A recorded process has its own stream of its trace mapped, and mostly also its control page.
 * /proc/PID/maps names both files. doc/control.md */
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
    char program[16]; /* the kernel's name of it                                                */
    char *folder;     /* the process's folder in its trace, absolute; owned                     */
    bool has_control; /* its page is a file, which others may write                             */
    char page_is[VV_MAPPED_FILE_BYTES]; /* that file, as in /proc/PID/maps                      */
};

struct vv_recorded_list {
    struct vv_recorded *items;
    size_t count, capacity;
};

/* Finds processes of this user: all (word NULL), the one with that number, or all of that program
 * or trace. A word that is the path of something here means that trace alone. VARVE_NOT_FOUND: the
 * word matches none. The caller de-initialises, also after a failure. */
enum varve_code vv_recorded_find(const char *word, struct vv_recorded_list *list,
                                 struct varve_error *error);
void vv_recorded_deinit(struct vv_recorded_list *list); /* idempotent */

/* The kernel's name of the process; its user may have set any name. */
void vv_recorded_program(pid_t pid, char out_program[16]);

/* Device and inode of the file in a line of /proc/PID/maps. */
void vv_recorded_file_of(const char *line, char out_file[VV_MAPPED_FILE_BYTES]);

/* "train.varve", from the folder of a process in that trace: a part of that text, of *out_length
 * bytes. */
const char *vv_recorded_trace(const struct vv_recorded *recorded, size_t *out_length);

/* recorded_page.c. Maps the control page; for writing, also locks it against other writers outside
 * of the process. Another user cannot block either step: the file at the name must be the one that
 * the process has mapped, and the wait for the lock is limited (VARVE_PERMISSION, and the message
 * says who holds it). */
struct vv_control_access {
    int file;
    struct vv_control_page *page;
};
enum varve_code vv_control_access_open(const struct vv_recorded *recorded, bool to_write,
                                       struct vv_control_access *out_access,
                                       struct varve_error *error);
void vv_control_access_close(struct vv_control_access *access);

/* Asks processes for what they hold outside of their traces, such as work of devices in CUPTI's
 * buffers (record/stream/hand_over.h). Waits for all of them together, at most 0.3 s. A process
 * that does not answer, holds nothing, or cannot be asked is no failure. */
void vv_recorded_hand_over(const struct vv_recorded *items, size_t count);

/* Writes "OP,STEP", "all", "off". */
#define VV_LAYERS_TEXT_BYTES 96
void vv_layers_text(uint32_t layers, char out_text[VV_LAYERS_TEXT_BYTES]);

/* `varve start` and `varve stop`: switch each process that the operand names. Return an exit
 * code. */
struct vv_arguments;
VV_MUST_USE int vv_recorded_switch(const struct vv_arguments *arguments, bool is_start);

#endif
