/* SPDX-License-Identifier: Apache-2.0 */
/* control_matrix.c — every way to begin a recording × every state of the process × every call that
 * switches it.
 *
 *     control_matrix LIBVARVE MODULE           cells from standard input, a line each:  FOLDER
 *     BEGIN STATE FIRST SECOND
 *     control_matrix LIBVARVE MODULE ROUNDS    threads that begin, end, switch and dump at once,
 *                                              here
 *
 * Each cell has a process of its own, forked before libvarve.so is loaded: what the environment
 * begins then begins as in a program that was just started. It runs in FOLDER, which is made. A
 * line of output for each cell: those five words, what modules/control_cell.c says of the two
 * calls, and "ok", "exit N" or "signal N", between tabulators. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST_S 300 /* only a cell that hangs runs as long */
#define VARIABLES 4

/* What is set before libvarve.so is loaded. "record" and those below: as `varve record` sets it. */
static const struct beginning {
    const char *name;
    const char *variables[VARIABLES];
} beginnings[] = {
    { "nothing", { NULL } },
    { "environment", { "VARVE_OPTIONS={\"output\": \"began.varve\"}" } },
    { "keep", { "VARVE_OPTIONS={\"output\": \"began.varve\", \"keep\": \"1MB\"}" } },
    { "ge", { "GE_PROFILING_MODE=true", "GE_PROFILING_OPTIONS={\"output\": \"began.varve\"}" } },
    { "dynamic", { "PROFILING_MODE=dynamic", "PROFILING_OPTIONS={\"output\": \"began.varve\"}",
                   "GE_PROFILING_MODE=true" } },
    { "record", { "VARVE_OUTPUT=", "VARVE_LAYERS=all" } },
    { "record-paused", { "VARVE_OUTPUT=", "VARVE_LAYERS=all", "VARVE_PAUSED=1" } },
    { "record-schedule", { "VARVE_OUTPUT=", "VARVE_LAYERS=all",
                           "VARVE_SCHEDULE=skip=1,active=1" } },
    { "record-environment", { "VARVE_OUTPUT=", "VARVE_LAYERS=all",
                              "VARVE_OPTIONS={\"output\": \"other.varve\"}" } },
    { "record-paused-environment",
      { "VARVE_OUTPUT=", "VARVE_LAYERS=all", "VARVE_PAUSED=1",
        "VARVE_OPTIONS={\"output\": \"other.varve\"}" } },
    { "wrong-environment", { "VARVE_OPTIONS={\"ouput\": \"other.varve\"}",
                             "PROFILING_MODE=true" } },
    { "session", { NULL } },
};

static int set_variable(const char *variable)
{
    static char name[64], folder[4096], path[4200];
    const char *equals = strchr(variable, '=');
    snprintf(name, sizeof name, "%.*s", (int)(equals - variable), variable);
    if (strcmp(name, "VARVE_OUTPUT") != 0)
        return setenv(name, equals + 1, 1);
    if (getcwd(folder, sizeof folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/began.varve", folder);
    return mkdir(path, 0777) == 0 ? setenv(name, path, 1) : -1;
}

static int set_environment(const char *name)
{
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++) {
        if (strcmp(beginnings[i].name, name) != 0)
            continue;
        for (int k = 0; k < VARIABLES && beginnings[i].variables[k] != NULL; k++)
            if (set_variable(beginnings[i].variables[k]) != 0)
                return -1;
        return 0;
    }
    return -1;
}

static void *load(char **paths, const char *symbol)
{
    void *library = dlopen(paths[1], RTLD_NOW | RTLD_GLOBAL);
    void *module = library != NULL ? dlopen(paths[2], RTLD_NOW) : NULL;
    void *found = module != NULL ? dlsym(module, symbol) : NULL;
    if (found == NULL) {
        fprintf(stderr, "control_matrix: %s\n", dlerror());
        exit(2);
    }
    return found;
}

/* In the cell's own process. */
static int run(char **paths, char words[5][256])
{
    int (*cell)(bool, const char *, const char *, const char *);
    if (mkdir(words[0], 0777) != 0 || chdir(words[0]) != 0 || set_environment(words[1]) != 0)
        return 2;
    alarm(LONGEST_S);
    void *symbol = load(paths, "cell_run");
    memcpy(&cell, &symbol, sizeof cell);
    return cell(strcmp(words[1], "session") == 0, words[2], words[3], words[4]);
}

static void tell(int status)
{
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    if (WIFSIGNALED(status) || code > 100) /* or the forked child's */
        printf("\tsignal %d\n", WIFSIGNALED(status) ? WTERMSIG(status) : code - 100);
    else if (code != 0)
        printf("\texit %d\n", code);
    else
        printf("\tok\n");
}

int main(int argc, char **argv)
{
    char line[1280], words[5][256];
    if (argc == 4) {
        int (*crowd)(long);
        void *symbol = load(argv, "crowd_run");
        memcpy(&crowd, &symbol, sizeof crowd);
        return crowd(atol(argv[3]));
    }
    while (argc == 3 && fgets(line, sizeof line, stdin) != NULL) {
        if (sscanf(line, "%255s %255s %255s %255s %255s", words[0], words[1], words[2], words[3],
                   words[4]) != 5)
            return 2;
        printf("%s %s %s %s %s", words[0], words[1], words[2], words[3], words[4]);
        fflush(stdout);
        int status = -1;
        pid_t cell = fork();
        if (cell == 0)
            exit(run(argv, words));
        if (cell < 0 || waitpid(cell, &status, 0) != cell)
            return 2;
        tell(status);
    }
    return argc == 3 ? 0 : 2;
}
