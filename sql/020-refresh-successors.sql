-- SPDX-License-Identifier: MIT
-- A refresh token has one successor. What makes the successor again for who sends the spent token a second time is the salt;
-- it is worth nothing without the token, which is not stored, and the service's secret.
--
-- `generation` numbers the tokens of a session, so that a session has a bounded number of them.
ALTER TABLE identity_refresh
    ADD COLUMN generation INT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN successor_salt BINARY(16) NULL,
    ADD KEY identity_refresh_generation (session_id, generation),
    DROP KEY identity_refresh_session;
