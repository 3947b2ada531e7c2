/* SPDX-License-Identifier: Apache-2.0 */
#include "record/sigbus.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>

#include "base/system/os.h"
#include "base/system/shared_page.h"
#include "record/control/control.h"
#include "record/lost.h"
#include "record/stream/recorder.h"

static bool is_in(const struct vv_part *part, uintptr_t address)
{
    return part->map != NULL && part->copy == NULL && address - (uintptr_t)part->map < part->bytes;
}

/* Puts memory in the place of a part that was cut. A thread stores only into its own stream and,
 * with the lock held, into the process's stream. */
static bool replace_lost_pages(struct vv_stream *stream, struct vv_writer *writer,
                               uintptr_t address)
{
    struct vv_part *parts[] = { &stream->part, &stream->former };
    for (unsigned i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (!is_in(parts[i], address))
            continue;
        if (vv_os_replace_by_memory(parts[i]->map, parts[i]->bytes) != 0)
            return false;
        if (i == 0) {
            stream->harmed = true;
            writer->limit = NULL; /* so the next record asks for room, and gets a new file */
        }
        return true;
    }
    return false;
}

static bool heal_at(uintptr_t address)
{
    struct vv_self *self = &vv_self;
    if (self->thread != NULL && replace_lost_pages(&self->thread->stream, &self->writer, address))
        return true;
    if (replace_lost_pages(&vv_session.stream, &vv_session.writer, address))
        return true;
    if (vv_lost_heal(address))
        return true;
    return address - (uintptr_t)&varve_control_page < VV_PAGE_BYTES && vv_control_lost();
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved_errno = errno;
    bool is_fault = info->si_code > 0;
    if (!is_fault || !heal_at((uintptr_t)info->si_addr)) {
        signal(number, SIG_DFL); /* not a page of the recorder: the default action follows */
        if (!is_fault)
            raise(number);
    }
    errno = saved_errno;
}

void vv_sigbus_watch(void)
{
    struct sigaction action;
    if (sigaction(SIGBUS, NULL, &action) != 0 || (action.sa_flags & SA_SIGINFO) != 0 ||
        action.sa_handler != SIG_DFL)
        return;
    action.sa_sigaction = on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, NULL);
}

void vv_sigbus_unwatch(void)
{
    struct sigaction action;
    if (sigaction(SIGBUS, NULL, &action) == 0 && (action.sa_flags & SA_SIGINFO) != 0 &&
        action.sa_sigaction == on_bus_error)
        signal(SIGBUS, SIG_DFL);
}
