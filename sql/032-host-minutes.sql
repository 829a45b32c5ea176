-- SPDX-License-Identifier: MIT
-- What each host did in each minute of the last two days, written by its job runner.
CREATE TABLE host_minute (
    minute DATETIME NOT NULL,
    host VARCHAR(64) NOT NULL,
    requests BIGINT UNSIGNED NOT NULL,
    errors BIGINT UNSIGNED NOT NULL,
    p50_microseconds BIGINT UNSIGNED NULL,
    p99_microseconds BIGINT UNSIGNED NULL,
    logins BIGINT UNSIGNED NOT NULL,
    login_failures BIGINT UNSIGNED NOT NULL,
    uploads BIGINT UNSIGNED NOT NULL,
    upload_bytes BIGINT UNSIGNED NOT NULL,
    outbox_depth BIGINT UNSIGNED NOT NULL,
    free_bytes BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (minute, host)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
