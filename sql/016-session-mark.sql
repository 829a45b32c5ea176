-- SPDX-License-Identifier: MIT
-- An authorised request need not read the session's row again while the mark beside its user is the one with which the
-- session was good: `principal.session_mark` is renewed, in the same transaction, by whatever takes something from a session
-- of the user that has not ended, the prompt of the database included: its end, an earlier expiry, another id or user, its
-- removal. What a session gains (a new one, a later expiry) needs no mark, since a process remembers good sessions only, until
-- their expiry and for a minute at most.
--
-- A mark is a UUID, so that none comes back, but with a copy of the data that is put back: then a process forgets with its
-- connection, `gatehousectl migrate` and `restore` renew all marks, and a minute does. One row is written for a session,
-- however many the user has, and none for what is removed long after its expiry (SYSDATE() knows no SET timestamp; the hours
-- are more than any time zone's). So a logout takes its session and then the principal, disabling a user the principal
-- and then the sessions: where the two meet, the one that the server picks is rolled back and the service runs it again. Who
-- ends a session waits for whoever holds its user's principal.
-- A statement that changes `session` cannot read `principal` (error 1442).
--
-- Triggers do not fire on TRUNCATE; `session_guard` is there to be in its way.

ALTER TABLE principal ADD COLUMN session_mark BINARY(16) NOT NULL DEFAULT '';

CREATE TABLE session_guard (
    session_id BINARY(16) NULL,
    CONSTRAINT session_guard_session FOREIGN KEY (session_id) REFERENCES session (id),
    CONSTRAINT session_guard_empty CHECK (session_id IS NULL)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- A row that comes back may have missed what happened to the sessions meanwhile, and waits for what is happening to them.
CREATE TRIGGER IF NOT EXISTS session_mark_begin BEFORE INSERT ON principal FOR EACH ROW
SET NEW.session_mark = IF((SELECT COUNT(*) FROM session s WHERE s.user_id = NEW.user_id LOCK IN SHARE MODE) < 0, '',
    UNHEX(REPLACE(UUID(), '-', '')));

-- The same for a row that becomes another user's.
CREATE TRIGGER IF NOT EXISTS session_mark_move BEFORE UPDATE ON principal FOR EACH ROW
SET NEW.session_mark = IF(NEW.user_id = OLD.user_id, NEW.session_mark, UNHEX(REPLACE(UUID(), '-', '')));

CREATE TRIGGER IF NOT EXISTS session_mark_update AFTER UPDATE ON session FOR EACH ROW
UPDATE principal SET session_mark = UNHEX(REPLACE(UUID(), '-', ''))
WHERE user_id = IF(OLD.ended_at IS NOT NULL OR NEW.ended_at IS NULL AND NEW.expires_at >= OLD.expires_at
    AND NEW.id = OLD.id AND NEW.user_id = OLD.user_id, NULL, OLD.user_id);

CREATE TRIGGER IF NOT EXISTS session_mark_delete AFTER DELETE ON session FOR EACH ROW
UPDATE principal SET session_mark = UNHEX(REPLACE(UUID(), '-', ''))
WHERE user_id = IF(OLD.ended_at IS NOT NULL OR OLD.expires_at < SYSDATE(3) - INTERVAL 20 HOUR, NULL, OLD.user_id);

-- Until here a user's mark is zeros, which no process remembers.
UPDATE principal SET session_mark = UNHEX(REPLACE(UUID(), '-', ''));
