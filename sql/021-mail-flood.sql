-- SPDX-License-Identifier: MIT
-- Each request that queues a mail is bounded, and mails with codes are sent before all others.

-- 0: a mail with a code or a temporary password; 1: a question that may lead to one; 2: all else.
ALTER TABLE outbox
    ADD COLUMN priority TINYINT UNSIGNED NOT NULL DEFAULT 0 AFTER kind,
    ADD KEY outbox_priority (status, priority, next_attempt_at);

UPDATE outbox SET priority = IF(kind = 'sync', 2, 1) WHERE status = 'waiting' AND kind IN ('sync', 'forgotten', 'resend');

-- `mail`: mails that a client's address asked for within five minutes; `organisation`: accounts that an organisation made
-- within an hour.
ALTER TABLE throttle DROP CONSTRAINT throttle_scope;

ALTER TABLE throttle
    ADD CONSTRAINT throttle_scope CHECK (scope IN ('account', 'address', 'mail', 'organisation'));
