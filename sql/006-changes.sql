-- SPDX-License-Identifier: MIT
-- What every process must learn of before it answers another request: evictions from the service cache, new secrets, new
-- settings. change_version has one row, whose lock puts the log's rows in the order in which they are committed; every
-- request reads it together with its caller. The first version is the time of the installation. So a cache file that
-- belongs to another database is never taken for the cache of this one.

CREATE TABLE change_version (
    id TINYINT UNSIGNED NOT NULL,
    version BIGINT UNSIGNED NOT NULL,
    PRIMARY KEY (id),
    CONSTRAINT change_version_one CHECK (id = 1)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

INSERT INTO change_version (id, version) VALUES (1, FLOOR(UNIX_TIMESTAMP(NOW(6)) * 1000000));

-- Rows are only added, and removed when no running process can have missed them (gatehousectl jobs).
CREATE TABLE change_log (
    id BIGINT UNSIGNED NOT NULL,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    kind VARCHAR(16) NOT NULL,
    payload MEDIUMTEXT NOT NULL,
    PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
