-- SPDX-License-Identifier: MIT
-- The job runner removes the counts of past days. With this index it need not read all others to find them.

ALTER TABLE mail_allowance ADD KEY mail_allowance_day (day);
