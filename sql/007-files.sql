-- SPDX-License-Identifier: MIT
-- Quotas, bytes that are stored once, links.

-- What the rows of `file` add up to for each organisation, archived ones included, since their bytes are kept. The
-- transaction that adds or deletes rows of `file` updates it, so that quotas hold when several people upload at once.
CREATE TABLE file_usage (
    organisation_id BINARY(16) NOT NULL,
    bytes BIGINT UNSIGNED NOT NULL DEFAULT 0,
    files BIGINT UNSIGNED NOT NULL DEFAULT 0,
    PRIMARY KEY (organisation_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

INSERT INTO file_usage (organisation_id, bytes, files)
    SELECT organisation_id, SUM(size), COUNT(*) FROM file GROUP BY organisation_id;

-- Finds the file of an organisation that has these very bytes already.
ALTER TABLE file ADD KEY file_bytes (organisation_id, hash);

-- Keys of signed links, sealed under the service's secret file. The newest signs; a link holds as long as the row of its
-- key is there.
CREATE TABLE link_key (
    id BINARY(16) NOT NULL,
    key_sealed VARBINARY(256) NOT NULL,
    created_at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
