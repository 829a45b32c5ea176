-- SPDX-License-Identifier: MIT
-- More filters on the audit trail: outcome, target and request, alone and within an organisation. Each has an index that is in
-- the order of the list, so that its first page is found at once, however many rows there are and however few of them fit.
-- Rows of one request are few: that index serves with and without an organisation.

ALTER TABLE audit
    ADD KEY audit_outcome (outcome, id),
    ADD KEY audit_organisation_outcome (organisation_id, outcome, id),
    ADD KEY audit_target (target_id, id),
    ADD KEY audit_organisation_target (organisation_id, target_id, id),
    ADD KEY audit_request (request_id, organisation_id, id);
