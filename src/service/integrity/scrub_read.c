/* SPDX-License-Identifier: MIT */
/*
 * Reads one file, a portion at a time. Portions that are in the page cache are read from there and stay. Portions that
 * come from the disk are dropped from the cache again, so that a pass over all files does not evict what people ask
 * for. The kernel is told not to read ahead: what it reads ahead would count as cached when its turn comes, and would
 * stay. A store without files gives the bytes through its reader.
 */
#include <fcntl.h>
#include <sys/uio.h>

#include "base/error.h"
#include "base/metrics.h"
#include "blob/blob.h"
#include "service/integrity/scrub_int.h"
#include "service/runtime/service.h"

static void advise(const struct scrub_reader *reader, int advice, off_t offset, off_t length)
{
    int file = blob_reader_file(reader->blob);
    if (file >= 0)
        (void)posix_fadvise(file, offset, length, advice);
}

bool scrub_read_begin(struct scrub *scrub, const struct file_admin_record *kept, enum scrub_verdict *verdict_out)
{
    struct blob_found found;
    bool there = false;
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
    if (blob_open(scrub->service->blobs, scrub->pages, kept->id, &reader->blob) != NULL) {
        reader->blob = NULL;
        return false;
    }
    advise(reader, POSIX_FADV_RANDOM, 0, 0);
    reader->at = 0;
    reader->again = false;
    return true;
}

void scrub_read_end(struct scrub *scrub)
{
    uint8_t sum[DIGEST_BYTES];
    if (scrub->reader.blob == NULL)
        return;
    digest_final(scrub->reader.digest, sum); /* resets it for the next file */
    blob_close(scrub->reader.blob);
    scrub->reader.blob = NULL;
}

/* Reads what is in the page cache; nothing where the system lacks the call (musl before 1.2.5). */
static ssize_t read_cached(const struct scrub_reader *reader)
{
#ifdef RWF_NOWAIT
    struct iovec vector = {.iov_base = reader->block, .iov_len = (size_t)SCRUB_BLOCK_BYTES};
    int file = blob_reader_file(reader->blob);
    return file < 0 ? -1 : preadv2(file, &vector, 1, reader->at, RWF_NOWAIT);
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
    size_t got = 0;
    if (blob_read(reader->blob, (uint64_t)reader->at, reader->block, (size_t)SCRUB_BLOCK_BYTES, &got) != NULL)
        return -1;
    if (got > 0)
        advise(reader, POSIX_FADV_DONTNEED, reader->at, (off_t)got);
    return (ssize_t)got;
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
        advise(reader, POSIX_FADV_DONTNEED, 0, 0); /* so that it comes from the disk this time */
        return SCRUB_VERDICT_NONE;
    }
    scrub_read_end(scrub);
    return good ? SCRUB_VERDICT_GOOD : SCRUB_VERDICT_DAMAGED;
}

enum scrub_verdict scrub_read_more(struct scrub *scrub, const struct file_admin_record *kept)
{
    struct scrub_reader *reader = &scrub->reader;
    ssize_t got = read_portion(reader);
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
