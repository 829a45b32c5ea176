/* SPDX-License-Identifier: MIT */
/* Counts and reports what fsck finds. */
#include "service/integrity/fsck_int.h"

const char *fsck_kind_text(enum fsck_kind kind)
{
    static const char *const texts[FSCK_KINDS] = {"missing", "size",    "hash",      "unreadable", "usage",
                                                  "orphan",  "removal", "temporary", "stray"};
    return texts[kind];
}

void fsck_report(struct fsck *fsck, struct fsck_finding *finding)
{
    fsck->result->counts[finding->kind]++;
    fsck->result->unrepaired += !finding->repaired;
    if (fsck->options->found != NULL)
        fsck->options->found(fsck->options->context, finding);
}
