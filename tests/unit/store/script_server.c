/* SPDX-License-Identifier: MIT */
/* Starts and stops the tests' servers that are written in Python. */
#include "script_server.h"

#include "harness.h"

#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"

static void stop(void *argument)
{
    const pid_t *pid = argument;
    (void)kill(*pid, SIGKILL);
    (void)waitpid(*pid, NULL, 0);
}

const char *script_server_start(struct arena *arena, const char *script, const char *directory,
                                const char *const *arguments)
{
    /* Modules beside the script leave nothing in the source tree. None of the site's packages is looked for. */
    const char *all[16] = {GATEHOUSE_PYTHON3, "-BS", harness_source(arena, script), directory};
    pid_t *pid = arena_alloc(arena, sizeof *pid);
    int ends[2];
    char port[16] = "";
    for (size_t i = 0; arguments[i] != NULL; i++)
        all[4 + i] = arguments[i];
    assert_int_equal(pipe(ends), 0);
    *pid = fork();
    assert_true(*pid >= 0);
    if (*pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void)dup2(ends[1], 1);
        (void)close(ends[0]);
        (void)close(ends[1]);
        execvp(all[0], (char *const *)all);
        _exit(127);
    }
    (void)close(ends[1]);
    arena_defer(arena, stop, pid);
    for (size_t at = 0; at < sizeof port && strchr(port, '\n') == NULL; at++)
        assert_int_equal(read(ends[0], port + at, 1), 1);
    (void)close(ends[0]);
    return arena_copy(arena, port, strcspn(port, "\n"));
}
