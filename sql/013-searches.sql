-- SPDX-License-Identifier: MIT
-- What searches look at, in indexes.

-- Finds files by how their names begin. `file_listing` has the names too, but in the order of the listing: of five million
-- files a rare name took more than a second to find, and one that nothing is called as long.
ALTER TABLE file ADD KEY file_name (organisation_id, status, name, id, user_id, bucket, type);

-- People in the order of the listing with all that the listing's filters look at, so that what they leave out is passed
-- over inside the index. It serves whatever `user_organisation` served.
ALTER TABLE user ADD KEY user_listing (organisation_id, id, status, first_name, last_name, email), DROP KEY user_organisation;
