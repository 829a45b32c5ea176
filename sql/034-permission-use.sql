-- SPDX-License-Identifier: MIT
-- Which permissions people use: for each person and each permission that an endpoint asked for, the last day (UTC) on which
-- the person had it and was let in by it. The workers note this in memory and write it now and then, outside of requests.
-- No foreign key: a row of a person who is gone must not keep the others' rows of the same statement from being written.

CREATE TABLE permission_use (
    user_id BINARY(16) NOT NULL,
    permission VARCHAR(100) NOT NULL,
    last_day DATE NOT NULL,
    PRIMARY KEY (user_id, permission),
    KEY permission_use_day (last_day)
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin;
