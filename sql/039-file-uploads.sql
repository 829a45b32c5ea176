-- SPDX-License-Identifier: MIT
-- A row for each upload that arrives in pieces. `received` bytes are durable, and `digest` is the state of their SHA-256.
-- `reserved` bytes and one file count towards the quotas until the row has a file or goes. One process at a time writes:
-- the holder. A row with a file stays until its time is over, so that a client that missed the last reply learns the id.
CREATE TABLE file_upload (
    id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    length BIGINT UNSIGNED NULL,
    received BIGINT UNSIGNED NOT NULL DEFAULT 0,
    reserved BIGINT UNSIGNED NOT NULL DEFAULT 0,
    metadata VARBINARY(8192) NOT NULL,
    digest VARBINARY(104) NOT NULL,
    file_id BINARY(16) NULL,
    holder BINARY(16) NULL,
    held_until DATETIME(3) NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    expires_at DATETIME(3) NOT NULL,
    PRIMARY KEY (id),
    KEY file_upload_organisation (organisation_id, id),
    KEY file_upload_expiry (expires_at),
    CONSTRAINT file_upload_organisation FOREIGN KEY (organisation_id) REFERENCES organisation (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
