-- SPDX-License-Identifier: MIT
-- What a user's record says beside who the user is: the language (BCP 47), and the last login.

ALTER TABLE user
    ADD COLUMN locale VARCHAR(35) NULL,
    ADD COLUMN last_login_at DATETIME(3) NULL;
