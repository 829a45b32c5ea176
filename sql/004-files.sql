-- SPDX-License-Identifier: MIT
-- What is known of each file; its bytes lie in the blob store under its id.

-- `active_key` makes "the same file twice" (organisation, user, bucket, type, name and bytes, active) impossible,
-- whoever writes the row; archived rows have none. `tags` holds the tags in the order given, one a line. `file_listing`
-- is in the order of listings, newest first. It also has every column that they filter by, so the server skips rows inside
-- the index.
CREATE TABLE file (
    id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    user_id BINARY(16) NOT NULL,
    bucket VARCHAR(16) NOT NULL,
    type VARCHAR(32) NOT NULL,
    name VARCHAR(255) NOT NULL,
    hash BINARY(32) NOT NULL,
    size BIGINT UNSIGNED NOT NULL,
    content_type VARCHAR(127) NOT NULL,
    status VARCHAR(16) NOT NULL DEFAULT 'active',
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    updated_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    archived_at DATETIME(3) NULL,
    tags VARCHAR(1100) NOT NULL DEFAULT '',
    active_key BINARY(32) GENERATED ALWAYS AS (IF(status = 'active',
        UNHEX(SHA2(CONCAT(organisation_id, user_id, bucket, '/', type, '/', hash, name), 256)), NULL)) PERSISTENT,
    PRIMARY KEY (id),
    UNIQUE KEY file_active (active_key),
    KEY file_listing (organisation_id, status, id DESC, user_id, bucket, type, name),
    CONSTRAINT file_organisation FOREIGN KEY (organisation_id) REFERENCES organisation (id),
    CONSTRAINT file_status CHECK (status IN ('active', 'archived'))
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- The same tags, each once, so that files can be found by them.
CREATE TABLE file_tag (
    file_id BINARY(16) NOT NULL,
    organisation_id BINARY(16) NOT NULL,
    tag VARCHAR(64) NOT NULL,
    PRIMARY KEY (file_id, tag),
    KEY file_tag_listing (organisation_id, tag, file_id),
    CONSTRAINT file_tag_file FOREIGN KEY (file_id) REFERENCES file (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
