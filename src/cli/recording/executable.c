/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/executable.h"

#include <elf.h>
#include <endian.h>
#include <fcntl.h>
#include <paths.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/recording/program.h"

#define SCRIPTS_MAX 6       /* the kernel allows 5 interpreters                                  */
#define HEAD_BYTES 256      /* of a first line, the kernel reads this much                       */
#define SEGMENTS_MAX 256

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#else
#define OUR_MACHINE EM_NONE /* not known: any machine is accepted                                */
#endif
#define OUR_CLASS (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#define OUR_ORDER (__BYTE_ORDER == __LITTLE_ENDIAN ? ELFDATA2LSB : ELFDATA2MSB)

/* The loaders of other C libraries, by the begin of their file names. */
static const struct { const char *file, *library; } foreign_loaders[] = {
    { "ld-musl", "musl" }, { "ld-uClibc", "uClibc" }, { "ld64-uClibc", "uClibc" },
    { "linker", "Android's C library" },
};

static const char next_build[] = "record a build of it for this machine and the GNU C library";
static const char next_copy[] = "record a copy of it: cp takes no such right along";

static void __attribute__((format(printf, 4, 5)))
judge(struct vv_executable *executable, enum vv_loading loading, const char *next,
      const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(executable->why, sizeof executable->why, format, list);
    va_end(list);
    executable->loading = loading;
    executable->next = next;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* ---- ELF ---- */

static void judge_loader(struct vv_executable *executable, const char *loader)
{
    const char *name = last_part(loader);
    for (size_t i = 0; i < sizeof foreign_loaders / sizeof *foreign_loaders; i++)
        if (strncmp(name, foreign_loaders[i].file, strlen(foreign_loaders[i].file)) == 0)
            judge(executable, VV_LOADS_OTHER, next_build,
                  "is a program of %s, and libvarve.so is of the GNU C library",
                  foreign_loaders[i].library);
}

/* Reads the name of the program's loader; "" if it names none. False: the file cannot be read. */
static bool read_loader(int file, const Elf64_Ehdr *header, char out_loader[PATH_MAX])
{
    Elf64_Phdr segment;
    out_loader[0] = '\0';
    if (header->e_phentsize != sizeof segment || header->e_phnum > SEGMENTS_MAX)
        return false;
    for (unsigned i = 0; i < header->e_phnum; i++) {
        if (pread(file, &segment, sizeof segment,
                  (off_t)(header->e_phoff & INT64_MAX) + (off_t)(i * sizeof segment)) !=
            (ssize_t)sizeof segment)
            return false;
        if (segment.p_type != PT_INTERP)
            continue;
        if (segment.p_filesz < 2 || segment.p_filesz > PATH_MAX)
            return false;
        ssize_t length =
            pread(file, out_loader, segment.p_filesz, (off_t)(segment.p_offset & INT64_MAX));
        out_loader[length > 0 ? length - 1 : 0] = '\0';
        return length > 0;
    }
    return true;
}

static unsigned machine_of(const unsigned char *head)
{
    return head[EI_DATA] == ELFDATA2MSB ? (unsigned)(head[18] << 8 | head[19])
                                        : (unsigned)(head[19] << 8 | head[18]);
}

static void judge_elf(struct vv_executable *executable, int file, const unsigned char *head,
                      const struct stat *status)
{
    char loader[PATH_MAX];
    Elf64_Ehdr header;
    memcpy(&header, head, sizeof header);
    if (head[EI_CLASS] != OUR_CLASS)
        judge(executable, VV_LOADS_OTHER, next_build,
              "is a %s-bit program, and libvarve.so has %u bits",
              head[EI_CLASS] == ELFCLASS32 ? "32" : "64", (unsigned)(8 * sizeof(void *)));
    else if (head[EI_DATA] != OUR_ORDER ||
             (OUR_MACHINE != EM_NONE && machine_of(head) != OUR_MACHINE))
        judge(executable, VV_LOADS_OTHER, next_build,
              "is a program for another kind of processor (ELF machine %u)", machine_of(head));
    else if ((status->st_mode & (S_ISUID | S_ISGID)) != 0)
        judge(executable, VV_LOADS_NOTHING, next_copy,
              "is set-user-id, so no library may be loaded into it");
    else if (getxattr(executable->path, "security.capability", NULL, 0) > 0)
        judge(executable, VV_LOADS_NOTHING, next_copy,
              "has capabilities of its own, so no library may be loaded into it");
    else if (sizeof(void *) == 8 && read_loader(file, &header, loader)) {
        if (loader[0] == '\0')
            judge(executable, VV_LOADS_NOTHING, NULL,
                  "is statically linked, so no library can be loaded into it");
        else
            judge_loader(executable, loader);
    }
}

/* ---- scripts ---- */

/* Reads the interpreter that a first line names. False: it names none. */
static bool take_interpreter(const char *line, char out_path[PATH_MAX])
{
    size_t blanks = strspn(line, " \t"), length = strcspn(line + blanks, " \t\r\n");
    if (length == 0)
        return false;
    snprintf(out_path, PATH_MAX, "%.*s", (int)length, line + blanks);
    return true;
}

/* True: another file will run, which is now executable->path. */
static bool follow(struct vv_executable *executable, bool *has_shell)
{
    union { char text[HEAD_BYTES + 1]; unsigned char bytes[HEAD_BYTES + 1]; } head;
    struct stat status;
    int file = open(executable->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0)
        return false;
    ssize_t length = fstat(file, &status) == 0 && S_ISREG(status.st_mode)
                         ? pread(file, head.text, HEAD_BYTES, 0)
                         : -1;
    bool goes_on = false;
    head.text[length > 0 ? length : 0] = '\0';
    if (length >= (ssize_t)sizeof(Elf64_Ehdr) && memcmp(head.bytes, ELFMAG, SELFMAG) == 0)
        judge_elf(executable, file, head.bytes, &status);
    else if (length > 2 && memcmp(head.text, "#!", 2) == 0)
        goes_on = take_interpreter(head.text + 2, executable->path);
    else if (length >= 0 && !*has_shell) {
        goes_on = *has_shell = true;
        snprintf(executable->path, sizeof executable->path, "%s", _PATH_BSHELL);
    }
    close(file);
    return goes_on;
}

void vv_executable_look(const char *name, struct vv_executable *out_executable)
{
    bool has_shell = false;
    *out_executable = (struct vv_executable){ .loading = VV_LOADS };
    vv_program_find(name, out_executable->path, sizeof out_executable->path);
    for (unsigned i = 0; i < SCRIPTS_MAX && out_executable->path[0] != '\0'; i++)
        if (!follow(out_executable, &has_shell))
            break;
}
