/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/program.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "cli/arguments.h"

#ifndef VV_LIBRARY_FROM_BIN
#define VV_LIBRARY_FROM_BIN "../lib"
#endif

void vv_program_find(const char *name, char *out_path, size_t capacity)
{
    const char *path = getenv("PATH");
    int length = snprintf(out_path, capacity, "%s", name);
    bool is_found = length < (int)capacity && access(out_path, F_OK) == 0;
    if (strchr(name, '/') == NULL) {
        is_found = false;
        for (path = path != NULL ? path : "/bin:/usr/bin"; !is_found; path++) {
            size_t part = strcspn(path, ":");
            length = snprintf(out_path, capacity, "%.*s%s%s", (int)part, path, part > 0 ? "/" : "", name);
            is_found = length < (int)capacity && access(out_path, X_OK) == 0;
            path += part;
            if (*path == '\0')
                break;
        }
    }
    if (!is_found)
        out_path[0] = '\0';
}

/* An ELF program without an interpreter has no dynamic linker, so nothing can be preloaded. */
static bool is_static(const char *path)
{
    Elf64_Ehdr header;
    Elf64_Phdr segment;
    FILE *file = fopen(path, "re");
    bool has_interpreter = false, is_readable = false;
    if (file == NULL)
        return false;
    is_readable = fread(&header, sizeof header, 1, file) == 1 &&
                  memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
                  header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_phentsize == sizeof segment &&
                  fseeko(file, (off_t)(header.e_phoff & INT64_MAX), SEEK_SET) == 0;
    for (unsigned i = 0; is_readable && i < header.e_phnum; i++) {
        is_readable = fread(&segment, sizeof segment, 1, file) == 1;
        has_interpreter = has_interpreter || (is_readable && segment.p_type == PT_INTERP);
    }
    fclose(file);
    return is_readable && !has_interpreter;
}

const char *vv_program_why_silent(const char *name)
{
    char path[PATH_MAX];
    struct stat status;
    vv_program_find(name, path, sizeof path);
    if (path[0] != '\0' && stat(path, &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) != 0)
        return "is set-user-id, so no library may be loaded into it";
    if (path[0] != '\0' && is_static(path))
        return "is statically linked, so no library can be loaded into it";
    return "marks nothing that varve can hear";
}

bool vv_program_is_python(const char *name)
{
    static const char word[] = "python";
    char path[PATH_MAX], line[PATH_MAX] = "";
    vv_program_find(name, path, sizeof path);
    const char *slash = strrchr(path, '/');
    if (strncmp(slash != NULL ? slash + 1 : path, word, sizeof word - 1) == 0)
        return true;
    FILE *file = path[0] != '\0' ? fopen(path, "re") : NULL;
    bool is_script = file != NULL && fgets(line, sizeof line, file) != NULL && strncmp(line, "#!", 2) == 0;
    if (file != NULL)
        fclose(file);
    return is_script && strstr(line, word) != NULL;
}

int vv_program_complain(const char *name, int os_errno)
{
    char path[PATH_MAX];
    vv_program_find(name, path, sizeof path);
    if (os_errno == ENOENT && path[0] != '\0') {
        fprintf(stderr, "varve: cannot run '%s': the interpreter or loader that it names does not exist\n"
                        "  see its first line:  head -1 %s\n", name, path);
        return VV_EXIT_NO_PROGRAM;
    }
    if (os_errno == ENOENT || os_errno == ENOTDIR) {
        fprintf(stderr, "varve: cannot run '%s': no such program%s\n", name,
                strchr(name, '/') == NULL ? " in PATH" : "");
        if (strchr(name, '/') == NULL && access(name, F_OK) == 0)
            fprintf(stderr, "  the one in this folder:  varve record -- ./%s\n", name);
        else
            fprintf(stderr, "  check the name:  varve record -- PROGRAM ARGS\n");
        return VV_EXIT_NO_PROGRAM;
    }
    fprintf(stderr, "varve: cannot run '%s': %s\n", name, strerror(os_errno));
    struct stat status;
    if (path[0] != '\0' && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        fprintf(stderr, "  it is a folder: name a program in it\n");
    else
        fprintf(stderr, "  make it executable:  chmod +x %s\n  or name its interpreter:  "
                        "varve record -- python3 %s\n", name, name);
    return VV_EXIT_NOT_EXECUTABLE;
}

char *vv_program_library(void)
{
    static const char *const places[] = { "", VV_LIBRARY_FROM_BIN "/" };
    static const char *const names[] = { "libvarve.so", "libvarve.so.0" };
    const char *named = getenv("VARVE_LIBRARY");
    char self[PATH_MAX], path[2 * PATH_MAX];
    if (named != NULL && *named != '\0')
        return realpath(named, NULL);
    if (vv_os_program(self, sizeof self) != 0 || strrchr(self, '/') == NULL)
        return NULL;
    strrchr(self, '/')[1] = '\0';
    for (size_t place = 0; place < sizeof places / sizeof *places; place++) {
        for (size_t name = 0; name < sizeof names / sizeof *names; name++) {
            snprintf(path, sizeof path, "%s%s%s", self, places[place], names[name]);
            if (access(path, R_OK) == 0)
                return realpath(path, NULL);
        }
    }
    return NULL;
}
