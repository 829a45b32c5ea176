-- SPDX-License-Identifier: MIT
-- The workers' account may read `principal` and the roles, and write neither. Where what the triggers keep is not what users
-- and roles say, the job runner inserts a row here, and the triggers of this table, which run with the rights of the account
-- that made them, work everything out again. They read users and roles only, so a row that is inserted here gives nobody a right.

CREATE TABLE principal_repair (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TRIGGER IF NOT EXISTS principal_repair_remove AFTER INSERT ON principal_repair FOR EACH ROW
DELETE q FROM principal q LEFT JOIN user u ON u.id = q.user_id WHERE u.id IS NULL;

CREATE TRIGGER IF NOT EXISTS principal_repair_fill AFTER INSERT ON principal_repair FOR EACH ROW
FOLLOWS principal_repair_remove
INSERT INTO principal (user_id, organisation_id, user_status, organisation_status, permissions, roles)
SELECT u.id, u.organisation_id, u.status, o.status, u.permissions,
    COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(r.role_id), ':', r.role_id) ORDER BY r.position, r.role_id SEPARATOR '')
        FROM user_role r WHERE r.user_id = u.id LOCK IN SHARE MODE), '')
FROM user u JOIN organisation o ON o.id = u.organisation_id
ON DUPLICATE KEY UPDATE organisation_id = VALUES(organisation_id), user_status = VALUES(user_status),
    organisation_status = VALUES(organisation_status), permissions = VALUES(permissions), roles = VALUES(roles);

CREATE TRIGGER IF NOT EXISTS principal_repair_roles AFTER INSERT ON principal_repair FOR EACH ROW
FOLLOWS principal_repair_fill
UPDATE change_version SET roles = COALESCE((SELECT GROUP_CONCAT(CONCAT(LENGTH(p.role_id), ':', p.role_id,
        LENGTH(p.permission), ':', p.permission) ORDER BY p.role_id, p.permission SEPARATOR '')
    FROM role_permission p LOCK IN SHARE MODE), '')
WHERE id = 1;
