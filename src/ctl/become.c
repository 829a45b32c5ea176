/* SPDX-License-Identifier: MIT */
/* Gives up root before a file of the workers is opened. */
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/configuration.h"
#include "base/error.h"
#include "base/folder.h"
#include "base/secret.h"
#include "ctl/ctl_int.h"
#include "service/runtime/startup.h"

struct error *ctl_become_workers(struct run *run)
{
    struct configuration *configuration;
    uid_t owner = 0;
    TRY(startup_load(run->arena, run->config, NULL, &configuration));
    if (geteuid() != 0 || !folder_owner(configuration->cache.file, &owner) || owner == 0)
        return NULL;
    const struct passwd *entry = getpwuid(owner);
    if (entry != NULL && initgroups(entry->pw_name, entry->pw_gid) == 0 && setgid(entry->pw_gid) == 0 &&
        setuid(owner) == 0) {
        secret_protect_process();
        return NULL;
    }
    return error_message(
        error_new(run->arena, ERROR_INTERNAL, "%s", entry == NULL ? "the user has no name" : strerror(errno)),
        "The cache belongs to user %ld, and this command could not become that user.", (long)owner);
}
