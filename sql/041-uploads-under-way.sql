-- SPDX-License-Identifier: MIT
-- The list of files counts an organisation's uploads that have no file yet. The index holds them side by side, so that
-- those of the last day that are files already are not read. It takes the place of the one for the foreign key.
ALTER TABLE file_upload
    ADD KEY file_upload_under_way (organisation_id, file_id),
    DROP KEY file_upload_organisation;
