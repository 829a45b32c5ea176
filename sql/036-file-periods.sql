-- SPDX-License-Identifier: MIT
-- Files of a period in other orders than that of time. With the times beside the names and the sizes beside both, what
-- lies outside of a period is passed over inside the index, and what is inside is sorted in it. Without them each file on
-- the way was read. One statement, so that there are indexes of these names always.
ALTER TABLE file
    DROP KEY file_name,
    DROP KEY file_created,
    ADD KEY file_name (organisation_id, status, name, id, user_id, bucket, type, created_at, size),
    ADD KEY file_created (organisation_id, status, created_at, id, user_id, bucket, type, name, size);
