-- SPDX-License-Identifier: MIT
-- The built-in roles (docs/permissions.md). No endpoint edits them.

INSERT INTO role (id, description) VALUES
    ('owner', 'Owner of the organisation: everything in it'),
    ('inv-manage', 'Account owner of an inventory customer'),
    ('log-manage', 'Account owner of a logistics customer'),
    ('admin', 'Internal staff: everything, everywhere'),
    ('account-admin', 'Account-owner access to logistics and inventory');

INSERT INTO role_permission (role_id, permission) VALUES
    ('owner', 'rwx:*'),
    ('inv-manage', 'inv:*:w'),
    ('inv-manage', 'cus:*:w'),
    ('log-manage', 'log:*:w'),
    ('log-manage', 'cus:*:w'),
    ('admin', '*:*:a'),
    ('account-admin', 'inv:*:w'),
    ('account-admin', 'log:*:w'),
    ('account-admin', 'cus:*:w');
