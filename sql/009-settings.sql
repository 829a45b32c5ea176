-- SPDX-License-Identifier: MIT
-- The system settings document. Each row is one whole document and is never changed, so no writer and no crash can leave
-- half of one. The newest row that can be read holds; `document` is {"logging":{"level":…,"filter":…}}.
-- A row's user_id is NULL when the operator's command wrote it.
CREATE TABLE settings (
    version BIGINT UNSIGNED NOT NULL,
    document VARCHAR(4096) NOT NULL,
    user_id BINARY(16) NULL,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (version),
    CONSTRAINT settings_version CHECK (version BETWEEN 1 AND 9007199254740990)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
