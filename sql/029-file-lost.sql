-- SPDX-License-Identifier: MIT
-- Files whose bytes are missing or cannot be read, and when that was found. A row goes when the bytes have been read and are
-- right, or with the file. A disk that is not mounted loses every file, so only the first thousand are remembered.

CREATE TABLE file_lost (
    file_id BINARY(16) NOT NULL,
    found_at DATETIME(3) NOT NULL,
    PRIMARY KEY (file_id),
    CONSTRAINT file_lost_file FOREIGN KEY (file_id) REFERENCES file (id) ON DELETE CASCADE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
