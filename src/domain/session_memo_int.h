/* SPDX-License-Identifier: MIT */
/*
 * Remembers valid sessions with the database's connection, each with the session stamp that the user's row had then:
 * the column `session_mark` of `principal`. As long as the row has the same stamp, no session of the user was ended or
 * changed (sql/016-session-mark.sql). Private to the domain floor.
 */
#ifndef GATEHOUSE_DOMAIN_SESSION_MEMO_INT_H
#define GATEHOUSE_DOMAIN_SESSION_MEMO_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct database;

/*
 * The stamp with which this session of this user was valid; NULL where nothing is known, or where it may have expired
 * at `now` (milliseconds of the monotonic clock). The pointer is valid until the next statement, whose connection may
 * be lost with all that is remembered, and until the next session_memo_learn().
 */
const struct id *session_memo_stamp(const struct database *database, struct id user, struct id session, int64_t now);

/*
 * The session was valid with that stamp at `now` and will be for `lasting` milliseconds; 0: it was not valid. Nothing
 * is remembered in a transaction, which may have made the session and may be rolled back, nor with a stamp of zeros,
 * which a user has until there are triggers.
 */
void session_memo_learn(struct database *database, struct id user, struct id session, struct id stamp, int64_t now,
                        int64_t lasting);

#endif
