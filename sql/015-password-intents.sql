-- SPDX-License-Identifier: MIT
-- Each of several changes of one password is written down by itself. The job runner asks about it until the answer is known.

CREATE TABLE outside_intent (
    id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    -- The password that was to be set, sealed under the service's secret and the user.
    sealed VARBINARY(1024) NOT NULL,
    is_temporary BOOLEAN NOT NULL,
    -- The session that goes on; NULL: none.
    keep BINARY(16) NULL,
    asked_at DATETIME(3) NOT NULL,
    -- How often the provider was asked what came of it, and when it is to be asked next.
    attempts INT UNSIGNED NOT NULL DEFAULT 0,
    due_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY outside_intent_user (user_id),
    KEY outside_intent_due (due_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

INSERT INTO outside_intent (id, user_id, sealed, is_temporary, keep, asked_at, due_at)
    SELECT UNHEX(REPLACE(UUID(), '-', '')), user_id, asked_sealed, asked_temporary, asked_keep, asked_at, asked_at
    FROM outside_account WHERE asked_at IS NOT NULL AND asked_sealed IS NOT NULL;

ALTER TABLE outside_account
    DROP KEY outside_account_asked,
    DROP COLUMN asked_at,
    DROP COLUMN asked_sealed,
    DROP COLUMN asked_temporary,
    DROP COLUMN asked_keep;
