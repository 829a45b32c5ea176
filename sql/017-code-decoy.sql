-- SPDX-License-Identifier: MIT
-- A try at a code writes one row and commits it, whether or not there is a code: else the time of the answer would tell.
-- Where there is none, the row is one of these, which say nothing. One that is missing is made by the first try that needs it.

CREATE TABLE code_decoy (
    slot TINYINT UNSIGNED NOT NULL,
    mark TINYINT UNSIGNED NOT NULL,
    PRIMARY KEY (slot)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;

INSERT INTO code_decoy (slot, mark)
    WITH RECURSIVE slots (slot) AS (SELECT 0 UNION ALL SELECT slot + 1 FROM slots WHERE slot < 255)
    SELECT slot, 0 FROM slots;
