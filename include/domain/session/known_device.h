/* SPDX-License-Identifier: MIT */
/*
 * Devices on which a user has signed in before (docs/accounts.md, "Waits after failures"). A device keeps a mark: its
 * id and 32 random bytes, of which the database has the SHA-256. The mark opens nothing. At a login it only decides
 * whose wrong passwords hold it up: those that were sent with the same mark, and not a stranger's.
 *
 * A user has at most KNOWN_DEVICES_MAX of them. A mark holds for KNOWN_DEVICE_SECONDS after its last login, and until
 * the session that was opened with it last is ended by anything but its own logout.
 */
#ifndef GATEHOUSE_DOMAIN_SESSION_KNOWN_DEVICE_H
#define GATEHOUSE_DOMAIN_SESSION_KNOWN_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "base/id.h"

struct arena;
struct database;
struct error;

#define KNOWN_DEVICES_MAX 10
#define KNOWN_DEVICE_SECONDS (INT64_C(180) * 86400)

/* The length of a mark: base64url of its bytes (RFC 4648, section 5), without padding. */
#define KNOWN_DEVICE_MARK_BYTES 64

/*
 * Finds the user's device with that mark. *device_out is all zeros where there is none: the text is no mark, somebody
 * else's, too old or taken back. `mark` NULL: none was shown. The work is the same for the zero id, which is nobody's.
 */
struct error *known_device_find(struct database *database, struct arena *arena, struct id user, const char *mark,
                                struct id *device_out);

/*
 * After a login: notes that the device was used for that session, or, with `device` all zeros, adds one and removes the
 * user's oldest where there are more than KNOWN_DEVICES_MAX. *mark_out is the mark of a new one, for the client alone;
 * it stays as it is for one that was known.
 */
struct error *known_device_note(struct database *database, struct arena *arena, struct id user, struct id device,
                                struct id session, const char **mark_out);

/* The ids of the user's devices, at most KNOWN_DEVICES_MAX. */
struct error *known_device_list(struct database *database, struct arena *arena, struct id user,
                                struct id (*devices_out)[KNOWN_DEVICES_MAX], size_t *count_out);

/* Forgets the device of a session that somebody has ended. */
struct error *known_device_forget_session(struct database *database, struct arena *arena, struct id user,
                                          struct id session);

/* Forgets all devices of the user but that of the session `keep` (all zeros: no exception). */
struct error *known_device_forget_all(struct database *database, struct arena *arena, struct id user, struct id keep);

/* Forgets all devices of all users, after a restore: those that were forgotten since the backup must not be back. */
struct error *known_device_forget_everyones(struct database *database, struct arena *arena);

/* Removes up to `limit` rows whose time is over; for the job runner. */
struct error *known_device_purge(struct database *database, struct arena *arena, unsigned limit, uint64_t *count_out);

#endif
