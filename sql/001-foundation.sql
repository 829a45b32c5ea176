-- SPDX-License-Identifier: MIT
-- Organisations, people, roles, sessions and the outbox.
--
-- Conventions: ids are UUIDv7 in BINARY(16); times are UTC; each table says utf8mb4_nopad_bin, so that comparison is exact
-- to the byte whatever the server's defaults (which are case-blind and ignore trailing blanks). Not ascii: comparing such
-- a column with a value that holds other characters is an error of the server's (1267), not a mismatch.

CREATE TABLE organisation (
    id BINARY(16) NOT NULL,
    name VARCHAR(200) NOT NULL,
    services VARCHAR(100) NOT NULL DEFAULT '',
    status VARCHAR(20) NOT NULL,
    quota_bytes BIGINT UNSIGNED NULL,
    quota_files BIGINT UNSIGNED NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    updated_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id),
    CONSTRAINT organisation_status CHECK (status IN ('provisioning', 'active', 'disabled'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- `permissions` holds the user's own permissions, separated by single blanks; those of the roles come on top.
-- A row in status `provisioning` owns its e-mail address and is invisible to everyone.
CREATE TABLE user (
    id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    email VARCHAR(254) NOT NULL,
    phone VARCHAR(16) NULL,
    first_name VARCHAR(100) NOT NULL,
    last_name VARCHAR(100) NOT NULL,
    permissions VARCHAR(2048) NOT NULL DEFAULT '',
    status VARCHAR(24) NOT NULL,
    email_verified BOOLEAN NOT NULL DEFAULT FALSE,
    phone_verified BOOLEAN NOT NULL DEFAULT FALSE,
    provider_subject VARCHAR(128) NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    updated_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY user_email (email),
    KEY user_organisation (organisation_id, id),
    CONSTRAINT user_organisation_exists FOREIGN KEY (organisation_id) REFERENCES organisation (id),
    CONSTRAINT user_status CHECK (status IN
        ('provisioning', 'awaiting-first-login', 'awaiting-confirmation', 'active', 'disabled'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE role (
    id VARCHAR(64) NOT NULL,
    description VARCHAR(200) NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE role_permission (
    role_id VARCHAR(64) NOT NULL,
    permission VARCHAR(100) NOT NULL,
    PRIMARY KEY (role_id, permission),
    CONSTRAINT role_permission_role FOREIGN KEY (role_id) REFERENCES role (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- No foreign key to `role`: a role id without a row grants nothing, and taking a role away must never be blocked.
CREATE TABLE user_role (
    user_id BINARY(16) NOT NULL,
    role_id VARCHAR(64) NOT NULL,
    position TINYINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, role_id),
    KEY user_role_role (role_id),
    CONSTRAINT user_role_user FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- One row a sign-in. A token is good only while its session's row is there and has not ended.
CREATE TABLE session (
    id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    expires_at DATETIME(3) NOT NULL,
    ended_at DATETIME(3) NULL,
    PRIMARY KEY (id),
    KEY session_user (user_id),
    KEY session_expiry (expires_at)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Work that must happen after a commit: mail, mirrors. `payload` is sealed, since it may hold a temporary password,
-- and is emptied when the work is done.
CREATE TABLE outbox (
    id BIGINT UNSIGNED NOT NULL AUTO_INCREMENT,
    kind VARCHAR(32) NOT NULL,
    user_id BINARY(16) NULL,
    payload BLOB NOT NULL,
    status VARCHAR(10) NOT NULL DEFAULT 'waiting',
    attempts INT UNSIGNED NOT NULL DEFAULT 0,
    next_attempt_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    finished_at DATETIME(3) NULL,
    last_error VARCHAR(500) NULL,
    PRIMARY KEY (id),
    KEY outbox_due (status, next_attempt_at),
    CONSTRAINT outbox_status CHECK (status IN ('waiting', 'done', 'dead'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Who did what to what. Rows are only added.
CREATE TABLE audit (
    id BINARY(16) NOT NULL,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    action VARCHAR(64) NOT NULL,
    organisation_id BINARY(16) NULL,
    user_id BINARY(16) NULL,
    target_type VARCHAR(32) NULL,
    target_id VARCHAR(64) NULL,
    client_address VARCHAR(45) NULL,
    request_id VARCHAR(128) NULL,
    outcome VARCHAR(16) NOT NULL,
    details VARCHAR(4096) NOT NULL DEFAULT '{}',
    PRIMARY KEY (id),
    KEY audit_organisation (organisation_id, id),
    KEY audit_user (user_id, id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
