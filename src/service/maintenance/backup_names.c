/* SPDX-License-Identifier: MIT */
/*
 * Remembers bytes that have several names. The store keeps the same bytes of an organisation once, and so do its
 * backups and what is restored from them. The names of one inode belong to one organisation, since the service links no
 * others; the hash tells that the bytes are the wanted ones. The table is of a fixed size and forgets: what it has
 * forgotten is copied again.
 */
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "service/backup_int.h"

#define SLOTS 65536

struct backup_names {
    struct {
        dev_t device;
        ino_t inode; /* 0: the slot is empty */
        struct backup_item item;
    } slots[SLOTS];
};

struct backup_names *backup_names_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct backup_names));
}

static size_t slot_of(const struct stat *status)
{
    return (size_t)((uint64_t)status->st_ino * UINT64_C(0x9e3779b97f4a7c15) >> 48) % SLOTS;
}

bool backup_names_find(const struct backup_names *names, int fd, const struct backup_item *item, struct id *first_out)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_nlink < 2)
        return false;
    size_t slot = slot_of(&status);
    if (names->slots[slot].inode != status.st_ino || names->slots[slot].device != status.st_dev ||
        names->slots[slot].item.size != item->size || !digest_equal(names->slots[slot].item.hash, item->hash))
        return false;
    *first_out = names->slots[slot].item.id;
    return true;
}

void backup_names_note(struct backup_names *names, int fd, const struct backup_item *item)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_nlink < 2)
        return;
    size_t slot = slot_of(&status);
    names->slots[slot].device = status.st_dev;
    names->slots[slot].inode = status.st_ino;
    names->slots[slot].item = *item;
}
