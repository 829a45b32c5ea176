-- SPDX-License-Identifier: MIT
-- E-mail addresses are compared by a key of their own: Unicode NFKC, case folding and IDNA (codec/address.h), which SQL cannot
-- work out. `gatehousectl migrate` does it after these statements, for addresses that are not ASCII; the key of an ASCII
-- address is the address itself. Before the statements it has named the accounts whose keys would be the same, and stopped.
--
-- A row that is added by hand has its address for a key. The next `gatehousectl migrate` works out the right one.

ALTER TABLE user ADD COLUMN email_key VARCHAR(254) NOT NULL DEFAULT (email), ADD UNIQUE KEY user_email_key (email_key);

-- Searches look at both.
ALTER TABLE user DROP KEY user_listing,
    ADD KEY user_listing (organisation_id, id, status, first_name, last_name, email, email_key);
