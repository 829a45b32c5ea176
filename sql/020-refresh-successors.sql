-- SPDX-License-Identifier: MIT
-- A refresh token has one successor. A client that sends a spent token a second time gets the same successor, which is
-- worked out from the token, the service's secret and this salt. The token itself is not stored.
--
-- `generation` numbers the tokens of a session, so that a session has a bounded number of them.
ALTER TABLE identity_refresh
    ADD COLUMN generation INT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN successor_salt BINARY(16) NULL,
    ADD KEY identity_refresh_generation (session_id, generation),
    DROP KEY identity_refresh_session;
