/* SPDX-License-Identifier: MIT */
/*
 * Which sessions were good, remembered with the database's handle by the stamp that stood beside the user then: while
 * it stands there still, nothing was taken from any session of the user (sql/016-session-mark.sql). Private to the
 * domain floor.
 */
#ifndef GATEHOUSE_DOMAIN_SESSION_MEMO_INT_H
#define GATEHOUSE_DOMAIN_SESSION_MEMO_INT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/id.h"

struct database;

/*
 * The stamp with which this session of this user was good; NULL where nothing is known, or its time may be over at
 * `now` (milliseconds of the monotonic clock). The pointer is good until the next statement, with whose connection all
 * that is remembered may go, and the next session_memo_learn().
 */
const struct id *session_memo_stamp(const struct database *database, struct id user, struct id session, int64_t now);

/*
 * The session was good with that stamp at `now` and will be for `lasting` milliseconds; 0: it was not. Nothing is
 * remembered in a transaction, which may have made the session and be rolled back, nor with the stamp of zeros, which a
 * user has until there are triggers.
 */
void session_memo_learn(struct database *database, struct id user, struct id session, struct id stamp, int64_t now,
                        int64_t lasting);

#endif
