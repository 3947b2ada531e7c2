/* SPDX-License-Identifier: Apache-2.0 */
/* recorded.h — processes that are being recorded now, and their control pages. Thread-compatible.
 *
 * A recorded process has its own stream of its trace mapped, and mostly its control page: /proc/PID/maps
 * names both files. doc/control.md */
#ifndef VV_CLI_RECORDED_H
#define VV_CLI_RECORDED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"
#include "ctf/control_page.h"

struct vv_recorded {
    pid_t pid;
    char program[16]; /* as the kernel calls it                                                 */
    char *folder;     /* of the process in its trace, absolute; owned                           */
    bool has_control; /* its page is a file that others may write                               */
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

/* "train.varve", from the folder of a process in it; a part of that text, of *out_length bytes. */
const char *vv_recorded_trace(const struct vv_recorded *recorded, size_t *out_length);

/* Maps the control page and locks it against other writers outside the process. */
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
int vv_recorded_switch(const struct vv_arguments *arguments, bool is_start);

#endif
