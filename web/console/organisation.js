/* SPDX-License-Identifier: MIT */
/*
 * The organisation that one looks at: one's own, or the one that internal staff have switched to. It is kept in the
 * memory of the page only: a page that is loaded again shows one's own.
 */
import { session } from "./session.js";
import { shared } from "./view.js";

/* {id, name, foreign, reason} */
export const acting = shared({ id: "", name: "", foreign: false, reason: "" });

function own() {
    const { me } = session.get();
    return { id: me === null ? "" : me.organisation.id, name: me === null ? "" : me.organisation.name, foreign: false,
        reason: "" };
}

/* Looks at another organisation; `reason` (up to 200 characters) goes into the audit trail. */
export function switchTo({ id, name }, reason) {
    const mine = own();
    acting.set(id === mine.id ? mine : { id, name, foreign: true, reason });
}

export function switchBack() {
    acting.set(own());
}

/* Adds the organisation to the query of a list, where it is not one's own. */
export function inOrganisation(query) {
    const { id, foreign } = acting.get();
    return foreign ? { ...query, organisationId: id } : query;
}

let person = "";

session.watch(({ me }) => {
    const now = me === null ? "" : me.user.id;
    if (now !== person || !acting.get().foreign) {
        person = now;
        acting.set(own());
    }
});
