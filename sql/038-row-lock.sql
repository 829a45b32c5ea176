-- SPDX-License-Identifier: MIT
-- Locks in rows (include/store/database/row_lock.h). gatehousectl migrate makes the table itself before it applies any
-- file, since it takes the first of these locks; that of a copy without it is made here.
CREATE TABLE IF NOT EXISTS row_lock (
    name BINARY(32) NOT NULL,
    holder BINARY(16) NOT NULL,
    held_until DATETIME(3) NOT NULL,
    server VARBINARY(255) NOT NULL,
    connection BIGINT NOT NULL,
    PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Every table has a primary key, as a Galera cluster wants it. These two never hold a row.
ALTER TABLE principal_guard ADD COLUMN id INT NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST;
ALTER TABLE session_guard ADD COLUMN id INT NOT NULL AUTO_INCREMENT PRIMARY KEY FIRST;
