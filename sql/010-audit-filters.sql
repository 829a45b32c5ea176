-- SPDX-License-Identifier: MIT
-- An index for each pair of filters on the audit trail, in its order: with the indexes of single filters alone, asking for
-- something rare of somebody busy read every row of theirs (some ten seconds with five million rows).

ALTER TABLE audit
    ADD KEY audit_organisation_action (organisation_id, action, id),
    ADD KEY audit_user_action (user_id, action, id),
    ADD KEY audit_user_organisation (user_id, organisation_id, id DESC, action);
