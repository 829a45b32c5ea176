-- SPDX-License-Identifier: MIT
-- What the operator's long commands share: who is running, where a run stopped, and which bytes are still to be deleted.

-- One lease for each name. The holder renews it before `held_until`; the lease of a holder that died ends by itself. It
-- is a row, because the server's named locks hold on one node of a cluster only. `position` is where
-- an interrupted run may be taken up again.
CREATE TABLE maintenance (
    name VARCHAR(32) NOT NULL,
    holder BINARY(16) NULL,
    held_until DATETIME(3) NULL,
    position VARCHAR(1024) NOT NULL DEFAULT '',
    PRIMARY KEY (name)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

-- Purged files whose bytes may still be there: written in the transaction that deletes the row, deleted once the bytes
-- are gone. A crash between the two is finished by the next purge.
CREATE TABLE file_removal (
    file_id BINARY(16) NOT NULL,
    at DATETIME(3) NOT NULL DEFAULT UTC_TIMESTAMP(3),
    PRIMARY KEY (file_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
