/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/line/cleanup_on_signal.h"

#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "base/system/folder.h"
#include "cli/line/terminal.h"

#define FOLDER_DEPTH 40

volatile sig_atomic_t vv_cleanup_signal;

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

/* The handler reads these. A path is written only while its flag is 0. */
static char paths[VV_CLEANUP_COUNT][PATH_MAX];
static int folders[VV_CLEANUP_COUNT];
static volatile sig_atomic_t has_path[VV_CLEANUP_COUNT], has_line, has_folder;
static char folder_path[PATH_MAX];

static void end(int signal_number)
{
    if (has_line)
        (void)!write(STDERR_FILENO, VV_TERMINAL_ERASE, sizeof VV_TERMINAL_ERASE - 1);
    for (int i = 0; i < VV_CLEANUP_COUNT; i++)
        if (has_path[i])
            unlinkat(folders[i], paths[i], 0);
    if (has_folder)
        (void)!vv_folder_remove(AT_FDCWD, folder_path, FOLDER_DEPTH);
    /* SA_RESETHAND has restored the default, so the signal takes effect when this handler
     * returns. */
    raise(signal_number);
}

static void install(void)
{
    static bool is_installed;
    if (is_installed)
        return;
    is_installed = true;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction former, ours = { .sa_handler = end, .sa_flags = SA_RESETHAND };
        sigfillset(&ours.sa_mask);
        if (sigaction(signals[i], NULL, &former) == 0 && former.sa_handler == SIG_DFL)
            sigaction(signals[i], &ours, NULL);
    }
}

void vv_cleanup_file(enum vv_cleanup which, int folder, const char *name)
{
    has_path[which] = 0;
    size_t bytes = name != NULL ? strlen(name) + 1 : 0;
    if (bytes == 0 || bytes > sizeof paths[which])
        return;
    memcpy(paths[which], name, bytes);
    folders[which] = folder;
    has_path[which] = 1;
    install();
}

void vv_cleanup_folder(const char *path)
{
    has_folder = 0;
    if (path == NULL || strlen(path) >= sizeof folder_path)
        return;
    memcpy(folder_path, path, strlen(path) + 1);
    has_folder = 1;
    install();
}

void vv_cleanup_line(bool shown)
{
    has_line = shown;
    if (shown)
        install();
}

static void store(int signal_number)
{
    vv_cleanup_signal = signal_number;
}

void vv_cleanup_by_verb(void)
{
    struct sigaction former, ours = { .sa_handler = store, .sa_flags = (int)SA_RESETHAND };
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &former) == 0 && former.sa_handler != SIG_IGN)
            sigaction(signals[i], &ours, NULL);
}
