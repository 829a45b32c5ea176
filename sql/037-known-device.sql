-- SPDX-License-Identifier: MIT
-- Devices on which somebody has signed in before. Who shows the mark of one is not held up by the wrong passwords of strangers
-- (docs/accounts.md, "Waits after failures"). `mark_hash` is the SHA-256 of the mark's secret. `session_id` is the session that was
-- opened last with the mark: what ends it, but a logout, removes the row.
CREATE TABLE known_device (
    id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    mark_hash BINARY(32) NOT NULL,
    session_id BINARY(16) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    used_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id),
    KEY known_device_user (user_id, used_at),
    KEY known_device_used (used_at),
    CONSTRAINT known_device_owner FOREIGN KEY (user_id) REFERENCES user (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
