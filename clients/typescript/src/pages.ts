// SPDX-License-Identifier: MIT
// Lists as iteration: page after page is asked for as the items are taken.

/** What every list with pages answers. */
export interface Page<Item> {
    items: Item[];
    nextCursor: string | null;
}

/** Every item of a list: `iterate((page) => gatehouse.files.listFiles({ ...page, tag: "2026" }))`. */
export async function* iterate<Item>(
    operation: (page: { cursor?: string }) => Promise<Page<Item>>): AsyncGenerator<Item, void, undefined> {
    let cursor: string | null = null;
    do {
        const page: Page<Item> = await operation(cursor === null ? {} : { cursor });
        yield* page.items;
        cursor = page.nextCursor;
    } while (cursor !== null);
}
