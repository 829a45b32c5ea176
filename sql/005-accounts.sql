-- SPDX-License-Identifier: MIT
-- What the account flows need beyond the rows themselves: counts of failures, codes, and how many mails went out.

-- Failures of one account (consecutive ones) or one client address (within five minutes). `subject` is a digest, so
-- that names nobody has are counted like those that exist.
CREATE TABLE throttle (
    scope VARCHAR(16) NOT NULL,
    subject BINARY(32) NOT NULL,
    failures INT UNSIGNED NOT NULL DEFAULT 0,
    since DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    locked_until DATETIME(3) NULL,
    updated_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (scope, subject),
    KEY throttle_age (updated_at),
    CONSTRAINT throttle_scope CHECK (scope IN ('account', 'address'))
) COLLATE utf8mb4_nopad_bin;

-- One code a user and purpose: a new one replaces the old. `code_hash` is an HMAC under the service's secret.
CREATE TABLE code (
    user_id BINARY(16) NOT NULL,
    purpose VARCHAR(16) NOT NULL,
    code_hash BINARY(32) NOT NULL,
    tries TINYINT UNSIGNED NOT NULL DEFAULT 0,
    expires_at DATETIME(3) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (user_id, purpose),
    KEY code_expiry (expires_at),
    CONSTRAINT code_user FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE,
    CONSTRAINT code_purpose CHECK (purpose IN ('confirm', 'reset'))
) COLLATE utf8mb4_nopad_bin;

-- Mails of one purpose to one user on one day (UTC).
CREATE TABLE mail_allowance (
    user_id BINARY(16) NOT NULL,
    purpose VARCHAR(16) NOT NULL,
    day DATE NOT NULL,
    sent TINYINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, purpose, day),
    CONSTRAINT mail_allowance_user FOREIGN KEY (user_id) REFERENCES user (id) ON DELETE CASCADE
) COLLATE utf8mb4_nopad_bin;

-- Listing users of an organisation and the audit trail of one action.
ALTER TABLE audit ADD KEY audit_action (action, id);
