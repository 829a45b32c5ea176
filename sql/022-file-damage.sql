-- SPDX-License-Identifier: MIT
-- A file whose bytes are not those of its hash any more: when that was found. NULL: nobody has found it. Its bytes are not
-- sent until they have been compared again and are right. NULL is added to the end of the index, so an upload pays little.

ALTER TABLE file ADD COLUMN damaged_at DATETIME(3) NULL, ADD KEY file_damaged (damaged_at);
