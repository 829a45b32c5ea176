-- SPDX-License-Identifier: MIT
-- A row for each signed link, so that links can be listed, counted and revoked one by one. A link names its row, and
-- opens nothing without it. Links that were made before this table name no row and open until their time is over.
CREATE TABLE file_link (
    id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    file_id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    expires_at DATETIME(3) NOT NULL,
    uses BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (id),
    KEY file_link_file (file_id, id),
    KEY file_link_expiry (expires_at),
    CONSTRAINT file_link_file FOREIGN KEY (file_id) REFERENCES file (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
