-- SPDX-License-Identifier: MIT
-- Organisations that internal staff list, change and disable, and people who are erased.

-- A person in status `erased` is gone: the row keeps ids alone, so that files and audit rows that name it stay whole. Nobody
-- sees such a row, as with `provisioning`.
ALTER TABLE user DROP CONSTRAINT user_status;

ALTER TABLE user ADD CONSTRAINT user_status CHECK (status IN
    ('provisioning', 'awaiting-first-login', 'awaiting-confirmation', 'active', 'disabled', 'erased'));

-- A token of an outside provider that was issued before opens nothing, unless its session is a row that stands: the
-- organisation was disabled then.
ALTER TABLE organisation
    ADD COLUMN tokens_from DATETIME(3) NULL,
    ADD KEY organisation_listing (status, id);

-- How many people an organisation has, without those whom nobody sees. Triggers keep it, as they keep `principal`: counting
-- an organisation's people anew for each reply that shows it would read all their rows.
CREATE TABLE organisation_people (
    organisation_id BINARY(16) NOT NULL,
    people INT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TRIGGER IF NOT EXISTS people_insert AFTER INSERT ON user FOR EACH ROW FOLLOWS principal_user_insert
INSERT INTO organisation_people (organisation_id, people)
SELECT NEW.organisation_id, 1 FROM DUAL WHERE NEW.status NOT IN ('provisioning', 'erased')
ON DUPLICATE KEY UPDATE people = people + 1;

CREATE TRIGGER IF NOT EXISTS people_join AFTER UPDATE ON user FOR EACH ROW FOLLOWS principal_user_move
INSERT INTO organisation_people (organisation_id, people)
SELECT NEW.organisation_id, 1 FROM DUAL WHERE NEW.status NOT IN ('provisioning', 'erased')
    AND (OLD.status IN ('provisioning', 'erased') OR NEW.organisation_id <> OLD.organisation_id)
ON DUPLICATE KEY UPDATE people = people + 1;

CREATE TRIGGER IF NOT EXISTS people_leave AFTER UPDATE ON user FOR EACH ROW FOLLOWS people_join
UPDATE organisation_people SET people = people - 1
WHERE organisation_id = IF(OLD.status NOT IN ('provisioning', 'erased')
    AND (NEW.status IN ('provisioning', 'erased') OR NEW.organisation_id <> OLD.organisation_id), OLD.organisation_id, NULL)
    AND people > 0;

CREATE TRIGGER IF NOT EXISTS people_delete AFTER DELETE ON user FOR EACH ROW FOLLOWS principal_user_delete
UPDATE organisation_people SET people = people - 1
WHERE organisation_id = IF(OLD.status IN ('provisioning', 'erased'), NULL, OLD.organisation_id) AND people > 0;

-- The workers' account may not write the counts: see 018-worker-rights.sql.
CREATE TRIGGER IF NOT EXISTS principal_repair_people AFTER INSERT ON principal_repair FOR EACH ROW
FOLLOWS principal_repair_roles
INSERT INTO organisation_people (organisation_id, people)
SELECT o.id, (SELECT COUNT(*) FROM user u WHERE u.organisation_id = o.id AND u.status NOT IN ('provisioning', 'erased')
    LOCK IN SHARE MODE) FROM organisation o
ON DUPLICATE KEY UPDATE people = VALUES(people);

INSERT INTO organisation_people (organisation_id, people)
SELECT o.id, (SELECT COUNT(*) FROM user u WHERE u.organisation_id = o.id AND u.status NOT IN ('provisioning', 'erased'))
FROM organisation o
ON DUPLICATE KEY UPDATE people = VALUES(people);
