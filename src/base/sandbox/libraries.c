/* SPDX-License-Identifier: MIT */
/*
 * Loads what the C library would load when it is used for the first time. Behind the walls no file becomes code any
 * more, so whatever is not loaded by then never is.
 *
 * The C library finds a library that is loaded already by its name, and maps nothing then.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/sandbox/sandbox.h"

/* Never closed: it is to stay. Where it is not installed, its caller would not find it either. */
static void load(const char *library)
{
    if (dlopen(library, RTLD_NOW) == NULL)
        LOG(DEBUG, WORKER, "a library is not loaded", LOG_TEXT("library", library));
}

/* The modules of one line: "files mymachines [!UNAVAIL=return] dns". musl has none of them. */
static void load_modules(char *line)
{
    char library[128], *rest = NULL;
    for (char *open = strchr(line, '['); open != NULL; open = strchr(open, '[')) {
        size_t length = strcspn(open, "]");
        memset(open, ' ', open[length] == ']' ? length + 1 : length);
    }
    for (char *word = strtok_r(line, " \t\n", &rest); word != NULL; word = strtok_r(NULL, " \t\n", &rest))
        if (strchr(word, '/') == NULL) {
            (void)snprintf(library, sizeof library, "libnss_%s.so.2", word);
            load(library);
        }
}

/* Behind the walls only hosts are looked up: users are before, services and protocols never are. */
static void load_name_service(const char *path)
{
    static const char database[] = "hosts:";
    char *line = NULL;
    size_t size = 0;
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return;
    while (getline(&line, &size, file) > 0) {
        line[strcspn(line, "#")] = '\0';
        char *start = line + strspn(line, " \t");
        if (strncmp(start, database, sizeof database - 1) == 0)
            load_modules(start + sizeof database - 1);
    }
    free(line);
    (void)fclose(file);
}

void sandbox_load_libraries(const char *nsswitch)
{
    /* Needed where a thread ends by pthread_exit() or is cancelled. */
    load("libgcc_s.so.1");
    load_name_service(nsswitch);
}
