/* SPDX-License-Identifier: MIT */
/* Takes lost bytes from a backup: written like those of an upload, and only if their hash is right. */
#include <fcntl.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "blob/blob.h"
#include "service/backup_int.h"
#include "service/integrity/fsck_int.h"
#include "service/runtime/service.h"

static struct error *write_bytes(struct fsck *fsck, const struct file_admin_record *kept, int from, bool *repaired_out)
{
    struct blob_writer *writer;
    uint8_t sum[DIGEST_BYTES];
    ssize_t got;
    TRY(blob_begin(fsck->service->blobs, fsck->scratch, &writer));
    while ((got = read(from, fsck->block, FSCK_BLOCK_BYTES)) > 0) {
        TRY(blob_write(writer, fsck->block, (size_t)got));
        pace_spend(&fsck->pace, got);
        TRY(lease_holder_renew(&fsck->lease, fsck->arena));
    }
    blob_writer_digest(writer, sum);
    *repaired_out = got == 0 && blob_writer_size(writer) == (uint64_t)kept->size && digest_equal(sum, kept->hash);
    if (!*repaired_out) {
        blob_abort(writer);
        return NULL;
    }
    TRY(blob_commit(writer, kept->id));
    return blob_give(fsck->service->blobs, fsck->scratch, kept->id);
}

struct error *fsck_fetch(struct fsck *fsck, const struct file_admin_record *kept, bool *repaired_out)
{
    const char *path =
        arena_format(fsck->scratch, "%s/" BACKUP_FILES "/%s", fsck->backup, blob_path(fsck->scratch, kept->id));
    int from = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    *repaired_out = false;
    if (from < 0)
        return NULL;
    struct error *error = write_bytes(fsck, kept, from, repaired_out);
    (void)close(from);
    return error;
}
