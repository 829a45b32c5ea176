/* SPDX-License-Identifier: MIT */
/*
 * Lists of the service: a hook that reads them page by page, and the table that shows them in each of their states:
 * loading, empty, nothing fits the filters, failed, forbidden, and more to show.
 */
import * as api from "../api.js";
import { plural, t } from "../texts.js";
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../view.js";
import { Button, Empty, ErrorNotice, Waiting } from "./basic.js";

const PAGE = 50;

/*
 * Reads {items, nextCursor, total} from `path` with `query`, and again whenever one of them changes; the old rows stay
 * until the new ones are there. Returns
 *   items       the rows, null before the first answer
 *   total       how many there are, null where the service does not know
 *   loading     a request is under way
 *   error       the last request was refused: the error of assets/api.js, else null
 *   more        a function that reads the next page, null at the end
 *   firstNew    the index of the first row that more() brought, -1 before
 *   reload()    reads again from the beginning
 *   setItems(change)   change is given the rows and returns others: after an action, without a request
 * A path of "" reads nothing.
 */
export function useList(path, query = {}) {
    const [state, setState] = useState({
        items: null, total: null, cursor: null, loading: true, error: null, firstNew: -1,
    });
    const latest = useRef(0);
    const key = path + JSON.stringify(query);

    const read = async (cursor) => {
        const turn = ++latest.current;
        setState((old) => ({ ...old, loading: true, error: null }));
        const reply = await api.get(path, { limit: PAGE, ...query, cursor });
        if (turn !== latest.current) {
            return;
        }
        setState((old) => {
            if (!reply.ok) {
                return { ...old, loading: false, error: reply.error };
            }
            const before = cursor && old.items !== null ? old.items : [];
            return {
                items: [...before, ...reply.body.items], total: reply.body.total ?? null,
                cursor: reply.body.nextCursor ?? null, loading: false, error: null,
                firstNew: cursor ? before.length : -1,
            };
        });
    };

    useEffect(() => {
        if (path !== "") {
            read(null);
        }
        return () => {
            latest.current++;
        };
    }, [key]);

    return {
        ...state,
        more: state.cursor === null ? null : () => read(state.cursor),
        reload: () => read(null),
        setItems: (change) => setState((old) => ({ ...old, items: change(old.items || []) })),
    };
}

/* ---- rows ---- */

function Cell({ column, row }) {
    const label = column.kind === "main" || column.kind === "actions" ? undefined : column.title;
    return html`<td class=${column.kind || ""} data-label=${label}>${column.show(row)}</td>`;
}

function Chooser({ checked, partly, label, onChange }) {
    const place = useRef(null);
    useLayoutEffect(() => {
        place.current.indeterminate = partly === true;
    });
    return html`<input type="checkbox" ref=${place} aria-label=${label} checked=${checked} onChange=${onChange} />`;
}

function toggled(chosen, key) {
    const next = new Set(chosen);
    if (!next.delete(key)) {
        next.add(key);
    }
    return next;
}

function Row({ row, columns, rowKey, rowName, selection, focused }) {
    const place = useRef(null);
    useLayoutEffect(() => {
        if (focused) {
            place.current.focus();
        }
    }, [focused]);
    const key = rowKey(row);
    const chosen = selection !== undefined && selection.chosen.has(key);
    return html`<tr ref=${place} tabindex=${focused ? "-1" : undefined} class=${chosen ? "chosen" : ""}>
        ${selection && html`<td class="choose"><${Chooser} checked=${chosen}
            label=${t("Choose {name}", { name: rowName(row) })}
            onChange=${() => selection.set(toggled(selection.chosen, key))} /></td>`}
        ${columns.map((column) => html`<${Cell} key=${column.title} column=${column} row=${row} />`)}
    </tr>`;
}

function Head({ columns, items, rowKey, selection }) {
    const chosen = selection === undefined ? 0 : items.filter((row) => selection.chosen.has(rowKey(row))).length;
    const all = () => selection.set(chosen === items.length ? new Set() : new Set(items.map(rowKey)));
    return html`<thead><tr>
        ${selection && html`<th class="choose" scope="col"><${Chooser} checked=${chosen > 0 && chosen === items.length}
            partly=${chosen > 0 && chosen < items.length} label=${t("Choose all")} onChange=${all} /></th>`}
        ${columns.map((column) => html`<th key=${column.title} scope="col" class=${column.kind || ""}>
            <span class=${column.kind === "actions" ? "unseen" : ""}>${column.title}</span></th>`)}
    </tr></thead>`;
}

function Foot({ list }) {
    const shown = list.items.length;
    const count = list.total === null || list.total <= shown ? plural("{n} entry", "{n} entries", shown)
        : t("{n} of about {total}", { n: shown, total: list.total });
    return html`<div class="list-foot"><span class="quiet">${count}</span>
        ${list.more && html`<${Button} label=${t("Show more")} busy=${t("Loading …")} onPress=${list.more} />`}</div>`;
}

/*
 * Shows what useList() returned.
 *   columns   [{title, kind, show(row)}]; kind: "main" (first, bold), "number" (right), "quiet" (grey),
 *             "actions" (last)
 *   rowKey    gives the key of a row; its id where it is left out
 *   rowName   gives the name of a row, for the labels of check boxes
 *   label     what the list holds, for screen readers
 *   empty     what stands there when there is nothing at all: a component such as <Empty>
 *   filtered  whether filters are set; then `clear` takes them away
 *   selection {chosen: a Set of keys, set(Set)} where rows can be chosen
 */
export function List({ list, columns, rowKey = (row) => row.id, rowName = rowKey, label, empty, filtered, clear,
    selection }) {
    const head = useMemo(() => columns.filter(Boolean), [columns]);
    if (list.items === null) {
        return list.error !== null ? html`<${ErrorNotice} error=${list.error} onRetry=${list.reload} />`
            : html`<${Waiting} />`;
    }
    const failed = list.error !== null && html`<${ErrorNotice} error=${list.error} onRetry=${list.reload} />`;
    if (list.items.length === 0 && list.error === null && !list.loading) {
        return filtered ? html`<${Empty} icon="filter" title=${t("Nothing fits these filters.")}>
            <${Button} label=${t("Clear filters")} onPress=${clear} /></${Empty}>` : empty;
    }
    return html`<div class="list" aria-busy=${String(list.loading)}>
        ${failed}
        <table aria-label=${label}>
            <${Head} columns=${head} items=${list.items} rowKey=${rowKey} selection=${selection} />
            <tbody>${list.items.map((row, at) => html`<${Row} key=${rowKey(row)} row=${row} columns=${head}
                rowKey=${rowKey} rowName=${rowName} selection=${selection} focused=${at === list.firstNew} />`)}</tbody>
        </table>
        <${Foot} list=${list} />
    </div>`;
}
