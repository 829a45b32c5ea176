-- SPDX-License-Identifier: MIT
-- A session of a remote provider that begins while all sessions of its user are ended. Whoever begins one and whoever ends
-- all of them write the same row, so that one of the two comes second, on whichever nodes of a cluster they are, and sees
-- what the first one did. Who asks a provider for a session reads the number of ends before: where it is another one
-- afterwards, what the provider gave may be older than the end.
ALTER TABLE outside_account
    ADD COLUMN sessions_begun BIGINT UNSIGNED NOT NULL DEFAULT 0,
    ADD COLUMN sessions_ended BIGINT UNSIGNED NOT NULL DEFAULT 0;
