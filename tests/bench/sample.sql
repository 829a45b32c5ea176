-- SPDX-License-Identifier: MIT
-- What tools/bench reads: 100 organisations, 10,000 users of two roles with a session each, 50,000 files.
INSERT INTO organisation (id, name, services, status)
    SELECT UNHEX(CONCAT('0193000000017000800', LPAD(HEX(seq), 13, '0'))), CONCAT('Organisation ', seq), 'inventory',
           'active'
    FROM seq_1_to_100;
INSERT INTO user (id, organisation_id, email, phone, first_name, last_name, status)
    SELECT UNHEX(CONCAT('0193000000027000800', LPAD(HEX(seq), 13, '0'))),
        UNHEX(CONCAT('0193000000017000800', LPAD(HEX(1 + seq % 100), 13, '0'))),
        CONCAT('person', seq, '@example.com'), '+4915112345678', 'Ada', 'Lovelace', 'active'
    FROM seq_1_to_10000;
INSERT INTO user_role (user_id, role_id, position)
    SELECT UNHEX(CONCAT('0193000000027000800', LPAD(HEX(1 + seq DIV 2), 13, '0'))),
        IF(seq % 2 = 0, 'owner', 'inv-manage'), seq % 2
    FROM seq_0_to_19999;
INSERT INTO session (id, user_id, expires_at)
    SELECT UNHEX(CONCAT('0193000000037000800', LPAD(HEX(seq), 13, '0'))),
        UNHEX(CONCAT('0193000000027000800', LPAD(HEX(seq), 13, '0'))), UTC_TIMESTAMP(3) + INTERVAL 1 DAY
    FROM seq_1_to_10000;
INSERT INTO file (id, organisation_id, user_id, bucket, type, name, hash, size, content_type, tags)
    SELECT UNHEX(CONCAT('0193000000047000800', LPAD(HEX(seq), 13, '0'))),
        UNHEX(CONCAT('0193000000017000800', LPAD(HEX(1 + seq % 100), 13, '0'))),
        UNHEX(CONCAT('0193000000027000800', LPAD(HEX(1 + (seq - 1) % 10000), 13, '0'))),
        'files', 'contract', CONCAT('contract ', seq, '.pdf'), UNHEX(SHA2(seq, 256)), 12345, 'application/pdf',
        'signed\n2026'
    FROM seq_1_to_50000;
ANALYZE TABLE organisation, user, user_role, session, file;
