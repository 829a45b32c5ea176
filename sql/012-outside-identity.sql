-- SPDX-License-Identifier: MIT
-- Accounts and sessions at a remote identity provider: what Gatehouse stores about them.

-- Finds an account by the provider's name of it.
ALTER TABLE user ADD KEY user_subject (provider_subject);

CREATE TABLE outside_account (
    user_id BINARY(16) NOT NULL,
    -- The password is a temporary one and holds until then.
    temporary_until DATETIME(3) NULL,
    -- A token issued before opens nothing, unless its session is a row that stands.
    tokens_from DATETIME(3) NULL,
    PRIMARY KEY (user_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

CREATE TABLE outside_session (
    session_id BINARY(16) NOT NULL,
    -- The first session of one login; its other rows are later names of the same.
    family BINARY(16) NOT NULL,
    -- Of the family's first row only: the provider's refresh token, sealed under the service's secret and the family.
    refresh_sealed VARBINARY(8192) NULL,
    PRIMARY KEY (session_id),
    KEY outside_session_family (family)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
