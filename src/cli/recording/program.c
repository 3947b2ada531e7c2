/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recording/program.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/os.h"
#include "cli/line/arguments.h"
#include "cli/line/say.h"

void vv_program_find(const char *name, char *out_path, size_t capacity)
{
    const char *path = getenv("PATH");
    int length = snprintf(out_path, capacity, "%s", name);
    bool is_found = length < (int)capacity && access(out_path, F_OK) == 0;
    if (strchr(name, '/') == NULL) {
        is_found = false;
        for (path = path != NULL ? path : "/bin:/usr/bin"; !is_found; path++) {
            size_t part = strcspn(path, ":");
            length = snprintf(out_path, capacity, "%.*s%s%s", (int)part, path, part > 0 ? "/" : "",
                              name);
            is_found = length < (int)capacity && access(out_path, X_OK) == 0;
            path += part;
            if (*path == '\0')
                break;
        }
    }
    if (!is_found)
        out_path[0] = '\0';
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
    bool is_script =
        file != NULL && fgets(line, sizeof line, file) != NULL && strncmp(line, "#!", 2) == 0;
    if (file != NULL)
        fclose(file);
    return is_script && strstr(line, word) != NULL;
}

int vv_program_complain(const char *name, int os_errno)
{
    char path[PATH_MAX];
    vv_program_find(name, path, sizeof path);
    if (os_errno == ENOENT && path[0] != '\0') {
        vv_say("cannot run '%s': the interpreter or loader that it names does not exist", name);
        vv_say_more("see its first line:  head -1 %s", path);
        return VV_EXIT_NO_PROGRAM;
    }
    if (os_errno == ENOENT || os_errno == ENOTDIR) {
        vv_say("cannot run '%s': no such program%s", name,
                strchr(name, '/') == NULL ? " in PATH" : "");
        if (strchr(name, '/') == NULL && access(name, F_OK) == 0)
            vv_say_more("the one in this folder:  varve record -- ./%s", name);
        else
            vv_say_more("check the name:  varve record -- PROGRAM ARGS");
        return VV_EXIT_NO_PROGRAM;
    }
    vv_say("cannot run '%s': %s", name, strerror(os_errno));
    struct stat status;
    if (path[0] != '\0' && stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        vv_say_more("it is a folder: name a program in it");
    else {
        vv_say_more("make it executable:  chmod +x %s", name);
        vv_say_more("or name its interpreter:  varve record -- python3 %s", name);
    }
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
