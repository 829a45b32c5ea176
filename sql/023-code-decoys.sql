-- SPDX-License-Identifier: MIT
-- A try at a code counts in one row of `code`, whether or not there is a code: else the time of the answer would tell. Where there
-- is none, that row is a decoy. Decoys are rows of ids that no user has (15 bytes of zeros and one more). The first try that needs a
-- decoy makes it. So `code` refers to no user any more. The code of a user who is gone is removed when it expires.

ALTER TABLE code DROP FOREIGN KEY code_user;
