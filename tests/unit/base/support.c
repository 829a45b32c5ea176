/* SPDX-License-Identifier: MIT */
/* What the tests of the base floor share. */
#include "base/support.h"

#include <string.h>

#include "base/arena.h"
#include "base/host/memory.h"
#include "base/host/process.h"
#include "base/metrics.h"
#include "base/text.h"
#include "harness.h"

const char *support_new_path(void **state)
{
    host_process_close();
    struct arena *arena = harness_arena(state);
    return arena_format(arena, "%s/metrics", harness_directory(arena));
}

void support_open_host(const char *path)
{
    const char *problem = NULL;
    if (!host_process_open(path, &problem))
        fail_msg("%s: %s", path, problem);
    assert_true(host_memory_is_shared());
}

const char *support_metrics(void **state)
{
    struct buffer buffer;
    buffer_init(&buffer, harness_arena(state));
    metrics_write(&buffer);
    return buffer.bytes;
}

bool support_metrics_have(void **state, const char *line)
{
    const char *text = support_metrics(state);
    size_t length = strlen(line);
    for (const char *at = strstr(text, line); at != NULL; at = strstr(at + 1, line))
        if ((at == text || at[-1] == '\n') && at[length] == '\n')
            return true;
    return false;
}
