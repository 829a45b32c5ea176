-- SPDX-License-Identifier: MIT
-- What deciding needs stands in the session's row, so that an authorised request reads that row, the version and the file.
--
-- `principal` (011) stays what is kept of each user. A session's row holds a copy of its user's, which triggers write: when
-- a session is made or given to another user, from `principal`; when `principal` changes, to the user's sessions, and only
-- where something has changed that they hold, so that other changes of a user lock no session. A session of nobody holds
-- what denies. `gatehousectl check` compares the copies, `gatehousectl migrate` and the job runner make them anew.
--
-- `change_version.roles_stamp` stands for `roles`, the permissions of all roles, which a process reads once and remembers:
-- whoever changes `roles`, the prompt of the database included, renews the stamp, and no stamp comes back with other roles.
--
-- Locks are taken in this order: account of the identity provider; user, organisation, user_role; principal; session;
-- refresh token. So a login, which shares the account and then its principal, adds a row that nobody else has seen, and
-- changes neither of the two afterwards, so that of two logins none waits for the other. Disabling a user, changing roles
-- or archiving an organisation takes each principal and then its sessions. Logout, refresh and purge take sessions and do
-- not look at principals. Where that order cannot be kept (a password changed by its owner ends the sessions before it may
-- touch the user; the purge takes sessions as they expire, a logout takes them before their tokens), the one that the
-- server picks is rolled back and the service runs it again; somebody at the prompt is told of a deadlock.
--
-- A statement that changes user, organisation, user_role or principal cannot read session (error 1442).

-- In a moment, however many rows there are. What stands there until they are filled denies.
ALTER TABLE session
    ADD COLUMN organisation_id BINARY(16) NOT NULL DEFAULT '',
    ADD COLUMN user_status VARCHAR(24) NOT NULL DEFAULT '',
    ADD COLUMN organisation_status VARCHAR(20) NOT NULL DEFAULT '',
    ADD COLUMN permissions VARCHAR(2048) NOT NULL DEFAULT '',
    ADD COLUMN roles TEXT NOT NULL DEFAULT '';

-- In the way of TRUNCATE principal, for which no trigger fires.
CREATE TABLE session_guard (
    user_id BINARY(16) NULL,
    CONSTRAINT session_guard_principal FOREIGN KEY (user_id) REFERENCES principal (user_id),
    CONSTRAINT session_guard_empty CHECK (user_id IS NULL)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- ---- session ---------------------------------------------------------------------------------------------------------

CREATE TRIGGER IF NOT EXISTS principal_session_insert BEFORE INSERT ON session FOR EACH ROW
SET NEW.organisation_id = COALESCE((SELECT p.organisation_id FROM principal p
        WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), ''),
    NEW.user_status = COALESCE((SELECT p.user_status FROM principal p
        WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), ''),
    NEW.organisation_status = COALESCE((SELECT p.organisation_status FROM principal p
        WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), ''),
    NEW.permissions = COALESCE((SELECT p.permissions FROM principal p
        WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), ''),
    NEW.roles = COALESCE((SELECT p.roles FROM principal p
        WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), '');

-- The IF keeps everything else, such as a logout, from looking at the principal.
CREATE TRIGGER IF NOT EXISTS principal_session_update BEFORE UPDATE ON session FOR EACH ROW
SET NEW.organisation_id = IF(NEW.user_id = OLD.user_id, NEW.organisation_id, COALESCE((SELECT p.organisation_id
        FROM principal p WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), '')),
    NEW.user_status = IF(NEW.user_id = OLD.user_id, NEW.user_status, COALESCE((SELECT p.user_status
        FROM principal p WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), '')),
    NEW.organisation_status = IF(NEW.user_id = OLD.user_id, NEW.organisation_status, COALESCE((SELECT p.organisation_status
        FROM principal p WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), '')),
    NEW.permissions = IF(NEW.user_id = OLD.user_id, NEW.permissions, COALESCE((SELECT p.permissions
        FROM principal p WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), '')),
    NEW.roles = IF(NEW.user_id = OLD.user_id, NEW.roles, COALESCE((SELECT p.roles
        FROM principal p WHERE p.user_id = NEW.user_id LOCK IN SHARE MODE), ''));

-- ---- principal -------------------------------------------------------------------------------------------------------

-- FORCE INDEX: the server may take a table that has just been filled for a small one, and look through all of it.
CREATE TRIGGER IF NOT EXISTS session_principal_insert AFTER INSERT ON principal FOR EACH ROW
UPDATE session FORCE INDEX (session_user)
SET organisation_id = NEW.organisation_id, user_status = NEW.user_status,
    organisation_status = NEW.organisation_status, permissions = NEW.permissions, roles = NEW.roles
WHERE user_id = NEW.user_id;

CREATE TRIGGER IF NOT EXISTS session_principal_update AFTER UPDATE ON principal FOR EACH ROW
UPDATE session FORCE INDEX (session_user)
SET organisation_id = NEW.organisation_id, user_status = NEW.user_status,
    organisation_status = NEW.organisation_status, permissions = NEW.permissions, roles = NEW.roles
WHERE user_id = IF(NEW.user_id = OLD.user_id AND NEW.organisation_id = OLD.organisation_id
    AND NEW.user_status = OLD.user_status AND NEW.organisation_status = OLD.organisation_status
    AND NEW.permissions = OLD.permissions AND NEW.roles = OLD.roles, NULL, NEW.user_id);

-- A user whose id changes: the sessions keep the old one, which is nobody's.
CREATE TRIGGER IF NOT EXISTS session_principal_rename AFTER UPDATE ON principal FOR EACH ROW
FOLLOWS session_principal_update
UPDATE session FORCE INDEX (session_user)
SET organisation_id = '', user_status = '', organisation_status = '', permissions = '', roles = ''
WHERE user_id = IF(NEW.user_id = OLD.user_id, NULL, OLD.user_id);

CREATE TRIGGER IF NOT EXISTS session_principal_delete AFTER DELETE ON principal FOR EACH ROW
UPDATE session FORCE INDEX (session_user)
SET organisation_id = '', user_status = '', organisation_status = '', permissions = '', roles = ''
WHERE user_id = OLD.user_id;

-- ---- the sessions that are there -------------------------------------------------------------------------------------

-- Two hundred users at a time, each time with their principals held first, as the triggers do; the service goes on
-- meanwhile. A portion that loses against somebody else is done again.
EXECUTE IMMEDIATE '
BEGIN NOT ATOMIC
    DECLARE done BINARY(16) DEFAULT '''';
    DECLARE last BINARY(16);
    DECLARE held BIGINT;
    DECLARE lost BOOLEAN;
    DECLARE CONTINUE HANDLER FOR 1205, 1213 SET lost = TRUE;
    REPEAT
        SELECT MAX(user_id) INTO last
            FROM (SELECT user_id FROM principal WHERE user_id > done ORDER BY user_id LIMIT 200) x;
        IF last IS NOT NULL THEN
            SET lost = FALSE;
            START TRANSACTION;
            SELECT COUNT(*) INTO held FROM (SELECT user_id FROM principal
                WHERE user_id > done AND user_id <= last LOCK IN SHARE MODE) x;
            IF NOT lost THEN
                UPDATE principal p FORCE INDEX (PRIMARY)
                STRAIGHT_JOIN session s FORCE INDEX (session_user) ON s.user_id = p.user_id
                SET s.organisation_id = p.organisation_id, s.user_status = p.user_status,
                    s.organisation_status = p.organisation_status, s.permissions = p.permissions, s.roles = p.roles
                WHERE p.user_id > done AND p.user_id <= last;
            END IF;
            IF lost THEN
                ROLLBACK;
            ELSE
                COMMIT;
                SET done = last;
            END IF;
        END IF;
    UNTIL last IS NULL END REPEAT;
END';

-- ---- the permissions of all roles ------------------------------------------------------------------------------------

ALTER TABLE change_version ADD COLUMN roles_stamp BIGINT UNSIGNED NOT NULL DEFAULT 0;

UPDATE change_version SET roles_stamp = FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000);

-- Nobody sets the stamp by hand.
CREATE TRIGGER IF NOT EXISTS principal_stamp_renew BEFORE UPDATE ON change_version FOR EACH ROW
SET NEW.roles_stamp = IF(NEW.roles = OLD.roles, OLD.roles_stamp,
    GREATEST(OLD.roles_stamp + 1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000)));

CREATE TRIGGER IF NOT EXISTS principal_stamp_begin BEFORE INSERT ON change_version FOR EACH ROW
FOLLOWS principal_permission_restore
SET NEW.roles_stamp = FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000);
