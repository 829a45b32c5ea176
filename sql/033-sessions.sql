-- SPDX-License-Identifier: MIT
-- What people see of their sessions: when each was used last, from which address and with which program. These columns
-- decide nothing. NULL: not known, as in sessions from before. The worker that serves a request writes them after its
-- reply, at most once a minute and session; as nothing is taken from a session then, its user's mark stays
-- (016-session-mark.sql).
--
-- `in_cookie`: its refresh tokens are in a browser's cookie, and only there they are looked for.
--
-- The key finds a user's open sessions, however many have ended.
ALTER TABLE session
    ADD COLUMN last_used_at DATETIME(3) NULL,
    ADD COLUMN client_address VARCHAR(45) NULL,
    ADD COLUMN user_agent VARCHAR(200) NULL,
    ADD COLUMN in_cookie BOOLEAN NOT NULL DEFAULT FALSE,
    ADD KEY session_open (user_id, ended_at),
    DROP KEY session_user;
