-- SPDX-License-Identifier: MIT
-- A change of a password at a remote provider is written down before the provider is asked, since its answer may be lost.

ALTER TABLE outside_account
    -- When it was asked for; NULL: every answer is known.
    ADD COLUMN asked_at DATETIME(3) NULL,
    -- The password that was to be set, sealed under the service's secret and the user.
    ADD COLUMN asked_sealed VARBINARY(1024) NULL,
    ADD COLUMN asked_temporary BOOLEAN NOT NULL DEFAULT FALSE,
    -- The session that goes on; NULL: none.
    ADD COLUMN asked_keep BINARY(16) NULL,
    ADD KEY outside_account_asked (asked_at);
