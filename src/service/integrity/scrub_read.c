/* SPDX-License-Identifier: MIT */
/*
 * Reads one file, a portion at a time. Portions that are in the page cache are read from there and stay. Portions that
 * come from the disk are dropped from the cache again, so that a pass over all files does not evict what people ask
 * for. The kernel is told not to read ahead: it would put portions into the cache of which nobody could tell that they
 * were not there before.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/error.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "service/integrity/scrub_int.h"
#include "service/runtime/service.h"

bool scrub_read_begin(struct scrub *scrub, const struct file_admin_record *kept, enum scrub_verdict *verdict_out)
{
    struct blob_found found;
    bool there = false;
    uint64_t size;
    struct scrub_reader *reader = &scrub->reader;
    *verdict_out = SCRUB_VERDICT_UNREADABLE;
    if (blob_look(scrub->service->blobs, scrub->scratch, kept->id, &found, &there) != NULL)
        return false;
    if (!there)
        *verdict_out = SCRUB_VERDICT_MISSING;
    else if (found.size != (uint64_t)kept->size)
        *verdict_out = SCRUB_VERDICT_DAMAGED;
    if (*verdict_out != SCRUB_VERDICT_UNREADABLE)
        return false;
    if (blob_open(scrub->service->blobs, scrub->scratch, kept->id, &reader->fd, &size) != NULL) {
        reader->fd = -1;
        return false;
    }
    (void)posix_fadvise(reader->fd, 0, 0, POSIX_FADV_RANDOM);
    reader->at = 0;
    reader->again = false;
    return true;
}

void scrub_read_end(struct scrub *scrub)
{
    uint8_t sum[DIGEST_BYTES];
    if (scrub->reader.fd < 0)
        return;
    digest_final(scrub->reader.digest, sum); /* resets it for the next file */
    (void)close(scrub->reader.fd);
    scrub->reader.fd = -1;
}

/* Reads what is in the page cache; nothing where the system lacks the call (musl before 1.2.5). */
static ssize_t read_cached(const struct scrub_reader *reader)
{
#ifdef RWF_NOWAIT
    struct iovec vector = {.iov_base = reader->block, .iov_len = (size_t)SCRUB_BLOCK_BYTES};
    return preadv2(reader->fd, &vector, 1, reader->at, RWF_NOWAIT);
#else
    (void)reader;
    return -1;
#endif
}

/* Reads a portion. One that is not in the page cache comes from the disk, and is dropped from the cache again. */
static ssize_t read_portion(struct scrub_reader *reader)
{
    ssize_t cached = read_cached(reader);
    if (cached > 0)
        return cached;
    ssize_t got = pread(reader->fd, reader->block, (size_t)SCRUB_BLOCK_BYTES, reader->at);
    if (got > 0)
        (void)posix_fadvise(reader->fd, reader->at, got, POSIX_FADV_DONTNEED);
    return got;
}

static enum scrub_verdict conclude(struct scrub *scrub, const struct file_admin_record *kept)
{
    struct scrub_reader *reader = &scrub->reader;
    uint8_t sum[DIGEST_BYTES];
    digest_final(reader->digest, sum);
    bool good = reader->at == kept->size && digest_equal(sum, kept->hash);
    if (!good && !reader->again) {
        reader->again = true;
        reader->at = 0;
        (void)posix_fadvise(reader->fd, 0, 0, POSIX_FADV_DONTNEED); /* so that it comes from the disk this time */
        return SCRUB_VERDICT_NONE;
    }
    scrub_read_end(scrub);
    return good ? SCRUB_VERDICT_GOOD : SCRUB_VERDICT_DAMAGED;
}

enum scrub_verdict scrub_read_more(struct scrub *scrub, const struct file_admin_record *kept)
{
    struct scrub_reader *reader = &scrub->reader;
    ssize_t got = read_portion(reader);
    if (got < 0 && errno == EINTR)
        return SCRUB_VERDICT_NONE;
    if (got < 0) {
        scrub_read_end(scrub);
        return SCRUB_VERDICT_UNREADABLE;
    }
    if (got == 0)
        return conclude(scrub, kept);
    digest_update(reader->digest, reader->block, (size_t)got);
    reader->at += got;
    scrub->rate.allowance -= got;
    scrub->position.bytes += scrub->options.damaged ? 0 : got;
    metrics_add(METRIC_SCRUB_BYTES, (uint64_t)got);
    return SCRUB_VERDICT_NONE;
}
