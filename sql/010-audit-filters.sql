-- SPDX-License-Identifier: MIT
-- An index for each pair of filters on the audit trail, in its order. With the indexes of single filters alone, a search
-- for a rare action of a busy user read every row of that user (some ten seconds with five million rows).

ALTER TABLE audit
    ADD KEY audit_organisation_action (organisation_id, action, id),
    ADD KEY audit_user_action (user_id, action, id),
    ADD KEY audit_user_organisation (user_id, organisation_id, id DESC, action);
