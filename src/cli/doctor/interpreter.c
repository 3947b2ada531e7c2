/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/interpreter.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/os.h"
#include "cli/recording/program.h"

#define LIMIT_NS INT64_C(10000000000)

extern char **environ;

/* The answer has a line for each fact, with its key first. torch/version.py is read, not run. */
static const char questions[] =
    "import sys\n"
    "print('version', '.'.join(map(str, sys.version_info[:3])))\n"
    "print('kind', sys.implementation.name)\n"
    "from importlib import util\n"
    "import os, re\n"
    "found = util.find_spec('torch')\n"
    "for folder in (found and found.submodule_search_locations) or ():\n"
    "    print('torch', folder)\n"
    "    try:\n"
    "        with open(os.path.join(folder, 'version.py')) as file:\n"
    "            said = re.search('^__version__[^=]*= *[\\'\"]([^\\'\"]*)', file.read(), re.M)\n"
    "        if said: print('torch_version', said.group(1))\n"
    "    except OSError:\n"
    "        pass\n"
    "    break\n";

/* Writes the Python of an environment into out_path. Returns false if there is none. */
static bool of_environment(const char *environment, char *out_path, size_t capacity)
{
    int length = snprintf(out_path, capacity, "%s/bin/python", environment);
    return length < (int)capacity && access(out_path, X_OK) == 0;
}

/* Of the environment that pip has put this program into: ENVIRONMENT/lib/pythonX.Y/site-packages.
 * So env/bin/varve speaks of env's Python, also where env is not active. */
static bool of_this_program(char *out_path, size_t capacity)
{
    char self[PATH_MAX];
    if (vv_os_program(self, sizeof self) != 0)
        return false;
    char *packages = strstr(self, "/site-packages/varve/native/");
    if (packages == NULL)
        return false;
    *packages = '\0';
    char *version = strrchr(self, '/'); /* pythonX.Y, within lib or lib64 */
    if (version == NULL || strncmp(version, "/python", strlen("/python")) != 0)
        return false;
    *version = '\0';
    char *library = strrchr(self, '/');
    if (library == NULL)
        return false;
    *library = '\0';
    return of_environment(self, out_path, capacity);
}

static void find(const char *name, struct vv_interpreter *interpreter)
{
    const char *environment = getenv("VIRTUAL_ENV");
    char *path = interpreter->path;
    if (name == NULL && environment != NULL && *environment != '\0' &&
        of_environment(environment, path, sizeof interpreter->path))
        return;
    if (name == NULL && of_this_program(path, sizeof interpreter->path))
        return;
    vv_program_find(name != NULL ? name : "python3", path, sizeof interpreter->path);
}

static void take_line(struct vv_interpreter *interpreter, const char *line)
{
    char kept[PATH_MAX];
    if (sscanf(line, "version %d.%d", &interpreter->major, &interpreter->minor) == 2)
        snprintf(interpreter->version, sizeof interpreter->version, "%.39s",
                 line + strlen("version "));
    else if (sscanf(line, "kind %39s", interpreter->kind) == 1 ||
             sscanf(line, "torch_version %39s", interpreter->torch_version) == 1)
        return;
    else if (sscanf(line, "torch %4095[^\n]", kept) == 1)
        snprintf(interpreter->torch_folder, sizeof interpreter->torch_folder, "%s", kept);
}

/* Reads what the process writes within the time. False: it took longer. */
static bool read_all(int file, char *text, size_t capacity)
{
    const int64_t end_ns = vv_clock_monotonic_ns() + LIMIT_NS;
    size_t used = 0;
    for (;;) {
        struct pollfd wait = { .fd = file, .events = POLLIN };
        int64_t left_ns = end_ns - vv_clock_monotonic_ns();
        int ready = left_ns > 0 ? poll(&wait, 1, (int)(left_ns / 1000000) + 1) : 0;
        ssize_t length = ready > 0 ? read(file, text + used, capacity - 1 - used) : -1;
        if (ready < 0 && errno == EINTR)
            continue;
        text[used += length > 0 ? (size_t)length : 0] = '\0';
        if (length == 0 || used == capacity - 1)
            return true;
        if (length < 0)
            return false;
    }
}

/* Returns 0 or an errno number. *out_file is the reading end of a pipe from its standard output. */
static int start(const char *path, pid_t *out_pid, int *out_file)
{
    char *const words[] = { (char *)(uintptr_t)path, (char *)(uintptr_t)"-c",
                            (char *)(uintptr_t)questions, NULL };
    posix_spawn_file_actions_t actions;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return errno;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int failure = posix_spawn(out_pid, path, &actions, NULL, words, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out_file = ends[0];
    if (failure != 0)
        close(ends[0]);
    return failure;
}

void vv_interpreter_ask(const char *name, struct vv_interpreter *out_interpreter)
{
    static char text[3 * PATH_MAX];
    struct vv_interpreter *interpreter = out_interpreter;
    pid_t pid;
    int file = -1, status = 0;
    *interpreter = (struct vv_interpreter){ 0 };
    find(name, interpreter);
    int failure = interpreter->path[0] != '\0' ? start(interpreter->path, &pid, &file) : ENOENT;
    if (failure != 0) {
        snprintf(interpreter->why, sizeof interpreter->why, "%.100s cannot be run: %s",
                 name != NULL ? name : "python3", strerror(failure));
        return;
    }
    bool is_whole = read_all(file, text, sizeof text);
    close(file);
    kill(pid, SIGKILL); /* it has answered, or written more than is wanted */
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
        take_line(interpreter, line);
    if (!is_whole)
        snprintf(interpreter->why, sizeof interpreter->why, "did not answer in 10 s");
    else if (interpreter->version[0] == '\0' || interpreter->kind[0] == '\0')
        snprintf(interpreter->why, sizeof interpreter->why, "does not answer as Python 3 would");
}
