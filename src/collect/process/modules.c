/* SPDX-License-Identifier: Apache-2.0 */
/* modules.c — finds loaded libraries with dl_iterate_phdr. dlopen(NAME, RTLD_NOLOAD) would search
 * the disk if the library is not loaded, 12 to 76 us for each of a thousand imports. Also, dlopen
 * needs a library's whole name. */
#include "collect/process/modules.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <string.h>

static int read_adds(struct dl_phdr_info *info, size_t size, void *out_adds)
{
    (void)size;
    *(unsigned long long *)out_adds = info->dlpi_adds;
    return 1; /* the first entry has the number */
}

bool vv_modules_changed(void)
{
    static unsigned long long seen; /* atomic */
    unsigned long long adds = 0;
    dl_iterate_phdr(read_adds, &adds);
    return __atomic_exchange_n(&seen, adds, __ATOMIC_RELAXED) != adds;
}

struct search {
    const char *name;
    size_t length;
    struct vv_module *module;
};

static int compare_name(struct dl_phdr_info *info, size_t size, void *state)
{
    struct search *search = state;
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    const char *name = slash != NULL ? slash + 1 : info->dlpi_name;
    bool is_it = strncmp(name, search->name, search->length) == 0 &&
                 (name[search->length] == '\0' || name[search->length] == '.');
    size_t bytes = strlen(info->dlpi_name) + 1;
    if (!is_it || bytes > sizeof search->module->path)
        return 0;
    memcpy(search->module->path, info->dlpi_name, bytes);
    return 1;
}

bool vv_module_find(const char *name, struct vv_module *out_module)
{
    struct search search = { name, strlen(name), out_module };
    return dl_iterate_phdr(compare_name, &search) != 0;
}

void *vv_module_open(const struct vv_module *module)
{
    int saved_errno = errno;
    void *handle = dlopen(module->path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (handle == NULL)
        dlerror(); /* clears it: the program's next dlerror must not show it */
    errno = saved_errno;
    return handle;
}

const char *vv_module_functions(void *library, const struct vv_module_function *functions,
                                size_t count, void *out)
{
    for (size_t i = 0; i < count; i++) {
        void *found = dlsym(library, functions[i].symbol);
        if (found == NULL) {
            dlerror();
            if (functions[i].is_needed)
                return functions[i].symbol;
        }
        memcpy((char *)out + functions[i].offset, &found, sizeof found);
    }
    return NULL;
}
