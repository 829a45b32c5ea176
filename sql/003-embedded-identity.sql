-- SPDX-License-Identifier: MIT
-- The embedded identity provider's own tables. Nothing outside src/identity reads them.

-- An account; `id` is its subject. `password_hash` is an Argon2id string (RFC 9106); `password_version` counts the
-- passwords set (not the rehashes), so that what was decided with one password cannot take effect after the next was set.
CREATE TABLE identity_account (
    id BINARY(16) NOT NULL,
    username VARCHAR(254) NOT NULL,
    password_hash VARCHAR(160) NOT NULL,
    password_version INT UNSIGNED NOT NULL DEFAULT 1,
    password_temporary BOOLEAN NOT NULL,
    password_expires_at DATETIME(3) NULL,
    status VARCHAR(16) NOT NULL,
    enabled BOOLEAN NOT NULL DEFAULT TRUE,
    email_verified BOOLEAN NOT NULL DEFAULT FALSE,
    phone VARCHAR(16) NULL,
    phone_verified BOOLEAN NOT NULL DEFAULT FALSE,
    permissions VARCHAR(2048) NOT NULL DEFAULT '',
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    updated_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id),
    UNIQUE KEY identity_account_username (username),
    CONSTRAINT identity_account_status CHECK (status IN ('force-change', 'unconfirmed', 'confirmed'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Refresh tokens by the SHA-256 of their text. A spent one stays until its session ends, to tell reuse.
CREATE TABLE identity_refresh (
    token_hash BINARY(32) NOT NULL,
    session_id BINARY(16) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    spent_at DATETIME(3) NULL,
    PRIMARY KEY (token_hash),
    KEY identity_refresh_session (session_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Signing keys; the private half is sealed under the service's secret file. The newest unretired key signs, all
-- published ones verify.
CREATE TABLE identity_signing_key (
    kid VARCHAR(64) NOT NULL,
    private_key_sealed VARBINARY(4096) NOT NULL,
    public_key VARCHAR(2048) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    retired_at DATETIME(3) NULL,
    PRIMARY KEY (kid)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
