/* SPDX-License-Identifier: MIT */
/* Keeps the marks of devices on which users have signed in before. */
#include "domain/session/known_device.h"

#include <stdbool.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "codec/digest.h"
#include "codec/encoding.h"
#include "codec/random.h"
#include "store/database/database.h"

#define SECRET_BYTES 32
#define BYTES (ID_BYTES + SECRET_BYTES)

/* What a mark says. */
struct mark {
    struct id device;
    uint8_t hash[DIGEST_BYTES];
};

/* Reads a mark; what is none gives the zero device with the hash of nothing, which no row has. */
static struct mark read_mark(struct arena *arena, const char *text)
{
    struct mark mark = {{{0}}, {0}};
    unsigned char *bytes = NULL;
    size_t length = 0;
    if (text == NULL || strlen(text) != KNOWN_DEVICE_MARK_BYTES ||
        !base64url_decode(arena, text, KNOWN_DEVICE_MARK_BYTES, &bytes, &length) || length != BYTES)
        return mark;
    memcpy(mark.device.bytes, bytes, ID_BYTES);
    digest_sha256(bytes + ID_BYTES, SECRET_BYTES, mark.hash);
    return mark;
}

static const struct statement find_device = {
    "SELECT id FROM known_device WHERE id = ? AND user_id = ? AND mark_hash = ?"
    " AND used_at > UTC_TIMESTAMP(3) - INTERVAL ? SECOND"};

struct error *known_device_find(struct database *database, struct arena *arena, struct id user, const char *mark,
                                struct id *device_out)
{
    struct mark shown = read_mark(arena, mark);
    struct rows *rows;
    *device_out = id_none;
    TRY(database_query(database, arena, &find_device,
                       VALUES(database_id(shown.device), database_id(user),
                              database_bytes(shown.hash, sizeof shown.hash), database_integer(KNOWN_DEVICE_SECONDS)),
                       &rows));
    if (rows->count == 1)
        *device_out = rows_id(rows, 0, 0);
    return NULL;
}

static const struct statement note_use = {
    "UPDATE known_device SET session_id = ?, used_at = UTC_TIMESTAMP(3) WHERE id = ? AND user_id = ?"};
static const struct statement insert_device = {
    "INSERT INTO known_device (id, user_id, mark_hash, session_id) VALUES (?, ?, ?, ?)"};
static const struct statement remove_oldest = {
    "DELETE FROM known_device WHERE user_id = ? AND id NOT IN (SELECT id FROM (SELECT id FROM known_device"
    " WHERE user_id = ? ORDER BY used_at DESC, id DESC LIMIT ?) newest)"};

static struct error *add_device(struct database *database, struct arena *arena, struct id user, struct id session,
                                const char **mark_out)
{
    uint8_t bytes[BYTES];
    uint8_t hash[DIGEST_BYTES];
    struct id device = id_new();
    memcpy(bytes, device.bytes, ID_BYTES);
    random_bytes(bytes + ID_BYTES, SECRET_BYTES);
    digest_sha256(bytes + ID_BYTES, SECRET_BYTES, hash);
    TRY(database_change(
        database, arena, &insert_device,
        VALUES(database_id(device), database_id(user), database_bytes(hash, sizeof hash), database_id(session)), NULL));
    *mark_out = base64url_encode(arena, bytes, sizeof bytes);
    return database_change(database, arena, &remove_oldest,
                           VALUES(database_id(user), database_id(user), database_integer(KNOWN_DEVICES_MAX)), NULL);
}

struct error *known_device_note(struct database *database, struct arena *arena, struct id user, struct id device,
                                struct id session, const char **mark_out)
{
    if (id_is_none(device))
        return add_device(database, arena, user, session, mark_out);
    return database_change(database, arena, &note_use,
                           VALUES(database_id(session), database_id(device), database_id(user)), NULL);
}

static const struct statement list_devices = {
    "SELECT id FROM known_device WHERE user_id = ? ORDER BY used_at DESC, id DESC LIMIT ?"};

struct error *known_device_list(struct database *database, struct arena *arena, struct id user,
                                struct id (*devices_out)[KNOWN_DEVICES_MAX], size_t *count_out)
{
    struct rows *rows;
    TRY(database_query(database, arena, &list_devices, VALUES(database_id(user), database_integer(KNOWN_DEVICES_MAX)),
                       &rows));
    for (size_t i = 0; i < rows->count; i++)
        (*devices_out)[i] = rows_id(rows, i, 0);
    *count_out = rows->count;
    return NULL;
}

static const struct statement forget_session = {"DELETE FROM known_device WHERE user_id = ? AND session_id = ?"};
static const struct statement forget_all = {"DELETE FROM known_device WHERE user_id = ? AND session_id <> ?"};
static const struct statement forget_everyones = {"DELETE FROM known_device"};
static const struct statement purge_devices = {
    "DELETE FROM known_device WHERE used_at < UTC_TIMESTAMP(3) - INTERVAL ? SECOND LIMIT ?"};

struct error *known_device_forget_session(struct database *database, struct arena *arena, struct id user,
                                          struct id session)
{
    return database_change(database, arena, &forget_session, VALUES(database_id(user), database_id(session)), NULL);
}

struct error *known_device_forget_all(struct database *database, struct arena *arena, struct id user, struct id keep)
{
    return database_change(database, arena, &forget_all, VALUES(database_id(user), database_id(keep)), NULL);
}

struct error *known_device_forget_everyones(struct database *database, struct arena *arena)
{
    return database_change(database, arena, &forget_everyones, NO_VALUES, NULL);
}

struct error *known_device_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out)
{
    struct change change;
    TRY(database_change(database, arena, &purge_devices,
                        VALUES(database_integer(KNOWN_DEVICE_SECONDS), database_integer(limit)), &change));
    *count_out = change.affected;
    return NULL;
}
