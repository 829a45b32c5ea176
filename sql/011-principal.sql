-- SPDX-License-Identifier: MIT
-- What every authorised request reads, side by side: one row a user, and the permissions of all roles in one row.
--
-- A request needs the states of user and organisation, the user's own permissions and the permissions of the user's roles,
-- which lie in five tables. The join over them costs the server more than everything else in a request. So triggers keep
-- the answer ready: whoever changes one of those tables, the prompt of the database included, changes what stands here in
-- the same transaction, and the next request sees it. These rows are copies only: `gatehousectl check` compares
-- them with their sources, and `gatehousectl migrate` makes them anew.
--
-- Each column follows one table only, and is worked out again from that table's rows, read with a lock: of two
-- transactions that touch the same answer, whoever comes second waits for the first and sees what it did, at every
-- isolation level (or one of them is told of a deadlock). What follows several rows, roles and permissions, is written as
-- LENGTH:TEXT LENGTH:TEXT ... so that no text can be taken for another, whatever it holds.
--
-- Triggers do not fire on TRUNCATE, so the foreign key of `principal_guard` forbids it. Only foreign_key_checks = 0 goes past
-- that and past the triggers.

CREATE TABLE principal (
    user_id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    user_status VARCHAR(24) NOT NULL,
    organisation_status VARCHAR(20) NOT NULL,
    permissions VARCHAR(2048) NOT NULL,
    roles TEXT NOT NULL,
    PRIMARY KEY (user_id),
    KEY principal_organisation (organisation_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

ALTER TABLE change_version ADD COLUMN roles MEDIUMTEXT NOT NULL DEFAULT '';

CREATE TABLE principal_guard (
    user_id BINARY(16) NULL,
    role_id VARCHAR(64) NULL,
    permission VARCHAR(100) NULL,
    CONSTRAINT principal_guard_user_role FOREIGN KEY (user_id, role_id) REFERENCES user_role (user_id, role_id),
    CONSTRAINT principal_guard_permission FOREIGN KEY (role_id, permission) REFERENCES role_permission (role_id, permission),
    CONSTRAINT principal_guard_empty CHECK (user_id IS NULL AND role_id IS NULL AND permission IS NULL)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- ---- user ----------------------------------------------------------------------------------------------------------

CREATE TRIGGER IF NOT EXISTS principal_user_insert AFTER INSERT ON user FOR EACH ROW
INSERT INTO principal (user_id, organisation_id, user_status, organisation_status, permissions, roles)
VALUES (NEW.id, NEW.organisation_id, NEW.status,
    COALESCE((SELECT o.status FROM organisation o WHERE o.id = NEW.organisation_id LOCK IN SHARE MODE), ''),
    NEW.permissions,
    COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id) ORDER BY r.position, r.role_id SEPARATOR '')
        FROM user_role r WHERE r.user_id = NEW.id LOCK IN SHARE MODE), ''))
ON DUPLICATE KEY UPDATE organisation_id = VALUES(organisation_id), user_status = VALUES(user_status),
    organisation_status = VALUES(organisation_status), permissions = VALUES(permissions), roles = VALUES(roles);

CREATE TRIGGER IF NOT EXISTS principal_user_update AFTER UPDATE ON user FOR EACH ROW
UPDATE principal SET user_id = NEW.id, user_status = NEW.status, permissions = NEW.permissions WHERE user_id = OLD.id;

-- A user who moves to another organisation. The IF keeps everything else from looking at the organisation's row.
CREATE TRIGGER IF NOT EXISTS principal_user_move AFTER UPDATE ON user FOR EACH ROW FOLLOWS principal_user_update
UPDATE principal SET organisation_id = NEW.organisation_id,
    organisation_status = COALESCE((SELECT o.status FROM organisation o
        WHERE o.id = IF(NEW.organisation_id = OLD.organisation_id, NULL, NEW.organisation_id) LOCK IN SHARE MODE), '')
WHERE user_id = IF(NEW.organisation_id = OLD.organisation_id, NULL, NEW.id);

CREATE TRIGGER IF NOT EXISTS principal_user_delete AFTER DELETE ON user FOR EACH ROW
DELETE FROM principal WHERE user_id = OLD.id;

-- ---- organisation --------------------------------------------------------------------------------------------------

CREATE TRIGGER IF NOT EXISTS principal_organisation_update AFTER UPDATE ON organisation FOR EACH ROW
UPDATE principal SET organisation_status = NEW.status
WHERE organisation_id = IF(NEW.status = OLD.status, NULL, NEW.id);

-- ---- user_role -----------------------------------------------------------------------------------------------------

CREATE TRIGGER IF NOT EXISTS principal_role_insert AFTER INSERT ON user_role FOR EACH ROW
UPDATE principal SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id)
        ORDER BY r.position, r.role_id SEPARATOR '')
    FROM user_role r WHERE r.user_id = NEW.user_id LOCK IN SHARE MODE), '')
WHERE user_id = NEW.user_id;

CREATE TRIGGER IF NOT EXISTS principal_role_update AFTER UPDATE ON user_role FOR EACH ROW
UPDATE principal SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id)
        ORDER BY r.position, r.role_id SEPARATOR '')
    FROM user_role r WHERE r.user_id = principal.user_id LOCK IN SHARE MODE), '')
WHERE user_id IN (OLD.user_id, NEW.user_id);

CREATE TRIGGER IF NOT EXISTS principal_role_delete AFTER DELETE ON user_role FOR EACH ROW
UPDATE principal SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id)
        ORDER BY r.position, r.role_id SEPARATOR '')
    FROM user_role r WHERE r.user_id = OLD.user_id LOCK IN SHARE MODE), '')
WHERE user_id = OLD.user_id;

-- ---- role_permission -----------------------------------------------------------------------------------------------

CREATE TRIGGER IF NOT EXISTS principal_permission_insert AFTER INSERT ON role_permission FOR EACH ROW
UPDATE change_version SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p LOCK IN SHARE MODE), '')
WHERE id = 1;

CREATE TRIGGER IF NOT EXISTS principal_permission_update AFTER UPDATE ON role_permission FOR EACH ROW
UPDATE change_version SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p LOCK IN SHARE MODE), '')
WHERE id = 1;

CREATE TRIGGER IF NOT EXISTS principal_permission_delete AFTER DELETE ON role_permission FOR EACH ROW
UPDATE change_version SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p LOCK IN SHARE MODE), '')
WHERE id = 1;

-- Where the one row was taken away, it comes back with the roles.
CREATE TRIGGER IF NOT EXISTS principal_permission_restore BEFORE INSERT ON change_version FOR EACH ROW
SET NEW.roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p LOCK IN SHARE MODE), '');

-- ---- what is there already -----------------------------------------------------------------------------------------

INSERT INTO principal (user_id, organisation_id, user_status, organisation_status, permissions, roles)
SELECT u.id, u.organisation_id, u.status, o.status, u.permissions,
    COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id) ORDER BY r.position, r.role_id SEPARATOR '')
        FROM user_role r WHERE r.user_id = u.id), '')
FROM user u JOIN organisation o ON o.id = u.organisation_id
ON DUPLICATE KEY UPDATE organisation_id = VALUES(organisation_id), user_status = VALUES(user_status),
    organisation_status = VALUES(organisation_status), permissions = VALUES(permissions), roles = VALUES(roles);

UPDATE change_version SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p), '')
WHERE id = 1;
