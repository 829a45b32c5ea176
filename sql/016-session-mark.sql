-- SPDX-License-Identifier: MIT
-- A process remembers for a minute at most that a session was good, and the mark of the session's user at that moment
-- (`principal.session_mark`). While the mark is the same, a request need not read the session's row again. Triggers renew the
-- mark in the transaction that takes something from a session that has not ended: its end, an earlier expiry, another id or
-- user, its removal; also if somebody does that at the prompt of the database. A new session or a later expiry needs no new
-- mark, since processes remember good sessions only.
--
-- A mark is a UUID, so no mark comes back, unless a copy of the data is put back. Then `gatehousectl migrate` and `restore`
-- renew all marks, and processes forget at the end of their connection or after a minute. Each end of a session writes one
-- row, however many sessions the user has. The removal of a session that expired long ago writes none (SYSDATE() ignores SET
-- timestamp; the hours are more than the difference of any two time zones). A logout locks its session and then the principal; disabling a user locks the
-- principal and then the sessions. If the two meet, the server rolls one of them back, and the service runs it again. Whoever
-- ends a session waits for the holder of its user's principal.
-- A statement that changes `session` cannot read `principal` (error 1442).
--
-- Triggers do not fire on TRUNCATE, so the foreign key of `session_guard` forbids it.

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
