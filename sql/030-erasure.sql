-- SPDX-License-Identifier: MIT
-- What the erasure of a person needs beside the status of the row.

-- The mails and jobs that concern a person.
ALTER TABLE outbox ADD KEY outbox_user (user_id);

-- The workers' account may not change the audit trail. For a person who is erased it inserts a row here, and the trigger, which
-- runs with the rights of the account that made it, takes the client addresses out of that person's rows between two ids. It
-- looks at the person's row itself: nobody else's trail loses anything.
CREATE TABLE audit_scrub (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    user_id BINARY(16) NOT NULL,
    after_id BINARY(16) NOT NULL,
    until_id BINARY(16) NOT NULL,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TRIGGER IF NOT EXISTS audit_scrub_addresses AFTER INSERT ON audit_scrub FOR EACH ROW
UPDATE audit SET client_address = NULL
WHERE user_id = (SELECT u.id FROM user u WHERE u.id = NEW.user_id AND u.status = 'erased')
    AND id > NEW.after_id AND id <= NEW.until_id;
