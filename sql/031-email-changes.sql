-- SPDX-License-Identifier: MIT
-- Changes of e-mail addresses. A row is asked for, then perhaps confirmed, and goes a day after that. Until then the notice
-- that the old address got can undo it and every later change of the user, and the old address is nobody else's.

CREATE TABLE email_change (
    id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    -- The order of the user's changes.
    number INT UNSIGNED NOT NULL,
    old_email VARCHAR(254) NOT NULL,
    old_key VARCHAR(254) NOT NULL,
    old_verified BOOLEAN NOT NULL,
    new_email VARCHAR(254) NOT NULL,
    -- An HMAC of the code in the notice under the service's secret; NULL until the job runner has written the notice.
    cancel_hash BINARY(32) NULL,
    requested_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    -- When it was confirmed; NULL: it waits for the code.
    changed_at DATETIME(3) NULL,
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    UNIQUE KEY email_change_number (user_id, number),
    KEY email_change_old (old_key),
    KEY email_change_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- `email`: the code that shows that the new address is the user's.
ALTER TABLE code DROP CONSTRAINT code_purpose;

ALTER TABLE code ADD CONSTRAINT code_purpose CHECK (purpose IN ('confirm', 'reset', 'email'));

-- `cancel`: tries of one client at the codes of one user's notices.
ALTER TABLE throttle DROP CONSTRAINT throttle_scope;

ALTER TABLE throttle
    ADD CONSTRAINT throttle_scope CHECK (scope IN ('account', 'address', 'mail', 'organisation', 'cancel'));
