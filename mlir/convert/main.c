/* SPDX-License-Identifier: Apache-2.0 */
/* main.c — MLIR in any form on standard input, as text, generic text or bytecode on standard
 * output. `varve` runs it (src/mlir/engine), and so can you:
 *
 *     varve-mlir-library LIBRARY text|generic|bytecode NAME <IN >OUT
 *     varve-mlir-llvm            text|generic|bytecode NAME <IN >OUT
 *
 * NAME is the file's in messages, and in the locations of operations that have none. Exit codes:
 * exits.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capi.h"
#include "convert.h"
#include "mlir/engine/exits.h"

FILE *said;

/* With a NUL behind the text, which MLIR's lexer looks at. */
static const char *map_input(size_t *out_bytes)
{
    struct stat about;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) {
        fprintf(said, "standard input is no file\n");
        return NULL;
    }
    size_t bytes = (size_t)about.st_size;
    char *room = mmap(NULL, (bytes / page + 2) * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                      0);
    if (room == MAP_FAILED ||
        (bytes > 0 && mmap(room, bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED, STDIN_FILENO, 0) ==
                          MAP_FAILED)) {
        fprintf(said, "cannot map the input: %s\n", strerror(errno));
        return NULL;
    }
    *out_bytes = bytes;
    return room;
}

/* What the library itself prints goes nowhere: the module and one message are all that is said. */
static int keep_output(void)
{
    int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    int message = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (out < 0 || message < 0 || nothing < 0 || dup2(nothing, STDOUT_FILENO) < 0 ||
        dup2(nothing, STDERR_FILENO) < 0)
        return -1;
    FILE *kept = fdopen(message, "w");
    if (kept == NULL)
        return -1;
    setvbuf(kept, NULL, _IONBF, 0);
    said = kept;
    return out;
}

int main(int argc, char **argv)
{
    static const char *const forms[] = { "text", "generic", "bytecode" };
    struct capi capi = { 0 };
    struct job job = { .capi = &capi };
    int first = takes_library ? 2 : 1, form = 0;
    said = stderr;
    while (argc == first + 2 && form < 3 && strcmp(argv[first], forms[form]) != 0)
        form++;
    if (argc != first + 2 || form == 3) {
        fprintf(said, "usage: %s %stext|generic|bytecode NAME <IN >OUT\n",
                program_invocation_short_name, takes_library ? "LIBRARY " : "");
        return VV_MLIR_EXIT_USAGE;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0, 0 });
    job.form = (enum form)form;
    job.name = argv[first + 1];
    job.text = map_input(&job.bytes);
    if (job.text == NULL)
        return VV_MLIR_EXIT_FAILED;
    job.out = keep_output();
    if (job.out < 0)
        return VV_MLIR_EXIT_FAILED;
    if (!fill_capi(argv[1], &capi))
        return VV_MLIR_EXIT_LIBRARY;
    int code = convert(&job);
    _exit(code); /* a library's destructors are none of our business */
}
