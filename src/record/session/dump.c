/* SPDX-License-Identifier: Apache-2.0 */
/* dump.c — the process copies the trace of its own session while the session goes on:
 * varve_session_dump, and a signal.
 *
 * This code may run in a signal handler that has interrupted the recorder. So it takes no lock, and
 * reads the session as another thread would. The data read is right if the session's serial is the
 * same before and after. */
#include "record/session/dump.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system/signal_handler.h"
#include "base/text/harmless.h"
#include "base/try_lock.h"
#include "ctf/snapshot/snapshot.h"
#include "record/stream/hand_over.h"
#include "record/stream/recorder.h"

static int turn;

/* Only the holder of `turn` uses these. These variables are static because stacks may be small. */
static char trace[sizeof vv_session.folder.path], written[VV_OWN_PATH_BYTES + 32];

static bool prints_failures; /* VARVE_DEBUG; set before the handler is installed                 */

/* ---- the session ---- */

/* Splits the path of the session's folder into `trace` and the process's name. ESRCH: no session
 * runs. ENODATA: the session has recorded nothing. EAGAIN: the session ended. */
static int find_session(const char **out_process)
{
    const struct vv_session *session = &vv_session;
    uint32_t serial = __atomic_load_n(&session->serial, __ATOMIC_ACQUIRE);
    if (!__atomic_load_n(&session->running, __ATOMIC_ACQUIRE))
        return ESRCH;
    if (!__atomic_load_n(&session->has_folder, __ATOMIC_ACQUIRE))
        return ENODATA;
    size_t length = 0; /* loads acquire: the serial is read after every byte */
    while (length + 1 < sizeof trace &&
           (trace[length] = __atomic_load_n(&session->folder.path[length], __ATOMIC_ACQUIRE)) !=
               '\0')
        length++;
    trace[length] = '\0';
    if (__atomic_load_n(&session->serial, __ATOMIC_RELAXED) != serial)
        return EAGAIN;
    char *slash = strrchr(trace, '/');
    if (slash == NULL)
        return EAGAIN;
    *slash = '\0';
    *out_process = slash + 1;
    return 0;
}

/* A dump from a signal handler, and one that interrupts the recorder, holds what was handed over
 * before; the rest is asked for, and is in the next one. */
static void hand_over(void)
{
    if (vv_self.busy || vv_may_be_in_signal_handler())
        vv_hand_over_ask();
    else
        vv_hand_over(false);
}

static int dump(const char *output)
{
    const char *processes[2] = { NULL, NULL };
    const struct vv_snapshot_job job = { trace, processes, NULL };
    hand_over();
    if (!vv_turn_take(&turn))
        return EBUSY;
    int cancel, failure = find_session(&processes[0]);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    if (failure == 0)
        failure = output != NULL ? vv_snapshot_trace(&job, output)
                                 : vv_snapshot_next(&job, written, sizeof written);
    vv_turn_give(&turn);
    pthread_setcancelstate(cancel, NULL);
    return failure;
}

/* ---- from the program ---- */

static const char *sentence_of(int failure)
{
    switch (failure) {
    case ESRCH:
        return "no session runs";
    case EAGAIN:
        return "the session ended";
    case ENODATA:
        return "the session has recorded nothing yet";
    case EBUSY:
        return "another dump of this process is being made";
    case EBADMSG:
        return "a file of the session's trace is damaged";
    default:
        return strerrordesc_np(failure);
    }
}

static enum varve_code code_of(int failure)
{
    switch (failure) {
    case ESRCH:
    case EAGAIN:
    case ENODATA:
    case EBUSY:
        return VARVE_STATE;
    case EBADMSG:
        return VARVE_CORRUPT;
    case EINVAL:
        return VARVE_INVALID;
    default:
        return vv_fail_errno(NULL, failure, "%s", "");
    }
}

/* Like vv_fail, but without a format: this may run in a signal handler. */
static enum varve_code fail(struct varve_error *error, int failure, const char *output)
{
    enum varve_code code = code_of(failure);
    if (error == NULL)
        return code;
    const char *why = sentence_of(failure);
    const char *pieces[] = { "cannot dump", output != NULL ? " to '" : "",
                             output != NULL ? output : "",
                             output != NULL ? "'" : "", ": ", why != NULL ? why : "unknown error" };
    size_t at = 0;
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++)
        for (const char *byte = pieces[i]; *byte != '\0' && at + 1 < VV_ERROR_TEXT_BYTES; byte++)
            error->message[at++] = *byte;
    error->message[at] = '\0';
    (void)vv_with_next(error, VV_NEXT_BY_CODE, code);
    vv_error_tidy(error);
    error->code = code;
    error->os_errno = failure;
    error->offset = VARVE_ERROR_NO_OFFSET;
    return code;
}

VARVE_API enum varve_code varve_session_dump(const char *output, struct varve_error *error)
{
    int saved_errno = errno, failure = dump(output);
    errno = saved_errno;
    return failure == 0 ? VARVE_OK : fail(error, failure, output);
}

/* ---- by a signal ---- */

static void on_signal(int number)
{
    struct varve_error error;
    int saved_errno = errno;
    (void)number;
    if (varve_session_dump(NULL, &error) != VARVE_OK && prints_failures)
        vv_harmless_tell(error.message);
    errno = saved_errno;
}

int vv_dump_on_signal(int number)
{
    struct sigaction action;
    if (sigaction(number, NULL, &action) != 0)
        return errno;
    bool has_handler = (action.sa_flags & SA_SIGINFO) != 0 ||
                       (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
    if (has_handler)
        return action.sa_handler == on_signal ? 0 : EBUSY;
    const char *debug = getenv("VARVE_DEBUG");
    prints_failures = debug != NULL && *debug != '\0';
    action = (struct sigaction){ .sa_handler = on_signal, .sa_flags = SA_RESTART | SA_ONSTACK };
    sigemptyset(&action.sa_mask);
    return sigaction(number, &action, NULL) == 0 ? 0 : errno;
}
