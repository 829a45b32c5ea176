/* SPDX-License-Identifier: MIT */
/* Tells of files whose bytes are lost, for the commands that copy bytes. */
#include <stdio.h>

#include "base/id.h"
#include "ctl/ctl_int.h"
#include "service/maintenance/progress.h"

void ctl_lost_tell(void *context, struct id id, const char *why)
{
    char text[ID_TEXT_BYTES];
    struct ctl_lost *lost = context;
    ctl_progress_end(&lost->progress);
    id_format(id, text);
    if (lost->json == NULL) {
        (void)printf("lost       file %s: %s\n", text, why);
        return;
    }
    ctl_json_open(lost->json, NULL, '{');
    ctl_json_text(lost->json, "fileId", text);
    ctl_json_text(lost->json, "reason", why);
    ctl_json_close(lost->json);
}

void ctl_lost_begin(struct ctl_lost *lost, struct ctl_json *json)
{
    lost->json = json;
    ctl_json_open(json, NULL, '{');
    ctl_json_open(json, "lost", '[');
}
