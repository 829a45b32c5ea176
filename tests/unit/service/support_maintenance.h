/* SPDX-License-Identifier: MIT */
/* What the tests of fsck, purge and backup share: a service of a database and a blob directory, and files in it. */
#ifndef GATEHOUSE_TESTS_SERVICE_SUPPORT_MAINTENANCE_H
#define GATEHOUSE_TESTS_SERVICE_SUPPORT_MAINTENANCE_H

#include "base/configuration.h"
#include "domain/support.h"
#include "service/maintenance/progress.h"
#include "service/runtime/service.h"

/* How long the database may take: nothing here is about time, and a busy machine may let a statement wait. */
#define KEEP_CONNECT_SECONDS 30
#define KEEP_QUERY_SECONDS 60

struct keep {
    struct arena *arena;
    struct arena *scratch;
    struct configuration configuration;
    struct service service;
    struct progress progress; /* nobody watches */
    struct id organisation;
    struct id user;
};

/* An organisation and a user in an empty database, and an empty directory. Released with the arena. */
struct keep *keep_new(struct arena *arena);

/* A file with `length` bytes of its own kind, row and bytes, made `age` seconds ago; seed makes them differ. */
struct file_record keep_file(struct keep *keep, size_t length, unsigned seed, int64_t age);

/* Those bytes. */
unsigned char *keep_bytes(struct arena *arena, size_t length, unsigned seed);

/* Bytes that have no row, `age` seconds old. */
struct id keep_orphan(struct keep *keep, int64_t age);

/* Path of a file's bytes, or of anything below the blob directory. */
const char *keep_path(struct keep *keep, struct id id);
const char *keep_below(struct keep *keep, const char *path);

/* Puts back the time of what lies at a path. */
void keep_age_path(const char *path, int64_t seconds);

/* Archives it, `seconds` ago. */
void keep_archive(struct keep *keep, struct id id, int64_t seconds);

/* Flips one bit of the bytes. */
void keep_flip(struct keep *keep, struct id id, size_t bit);

#endif
