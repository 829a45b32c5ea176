-- SPDX-License-Identifier: MIT
-- The orders of a list of files: by the time they were added, and by size. Like `file_listing` and `file_name`, each index
-- holds all that filters look at, so a page is found in it alone.

ALTER TABLE file
    ADD KEY file_created (organisation_id, status, created_at, id, user_id, bucket, type, name),
    ADD KEY file_size (organisation_id, status, size, id, user_id, bucket, type, name, created_at);
