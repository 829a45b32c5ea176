// SPDX-License-Identifier: MIT
// The TypeScript client: sessions, errors, lists.

import assert from "node:assert/strict";
import test from "node:test";
import { randomUUID } from "node:crypto";
import { client, facts, Gatehouse, signedIn } from "./support_stack.mjs";

const { AuthenticationError, DuplicateFileError, InvalidRequestError, iterate, NewPasswordRequiredError,
    PermissionDeniedError, RateLimitedError, UnavailableError } = client;

function textFile(name) {
    return new File([randomUUID()], name);
}

/** A session of the owner, the tokens that it has had, and another client that holds changed ones. */
async function session(changes) {
    const seen = [];
    const onTokens = (tokens) => { seen.push(tokens); };
    const first = await signedIn(facts.owner, { onTokens });
    return { first, seen, later: new Gatehouse(facts.baseUrl, { tokens: { ...first.tokens, ...changes }, onTokens }) };
}

test("a temporary password asks for a new one", async () => {
    const gatehouse = new Gatehouse(facts.baseUrl);
    const { email, temporary } = facts.invited;
    await assert.rejects(gatehouse.signIn(email, temporary), NewPasswordRequiredError);
    const user = await gatehouse.signIn(email, temporary, `a fresh ${randomUUID()}`);
    assert.equal(user.status, "active");
    assert.equal((await gatehouse.accounts.getOwnUser()).organisation.name, "Clients Ltd");
});

test("who has not signed in is told so without a request", async () => {
    await assert.rejects(new Gatehouse("http://127.0.0.1:9").accounts.getOwnUser(),
        (error) => error instanceof AuthenticationError && error.code === "auth.tokenMissing");
});

test("a session that is signed out opens nothing", async () => {
    const { first, seen } = await session({});
    const held = first.tokens;
    await first.signOut();
    assert.equal(first.tokens, undefined);
    assert.equal(seen.at(-1), undefined);
    await assert.rejects(new Gatehouse(facts.baseUrl, { tokens: held }).accounts.getOwnUser(),
        (error) => error instanceof AuthenticationError && error.code === "auth.tokenRevoked");
});

for (const [what, changes] of [["refused", { accessToken: "spoilt" }], ["expired", { expiresAt: 0 }]]) {
    test(`calls that need a new token at once share one refresh: ${what}`, async () => {
        const { seen, later } = await session(changes);
        const answers = await Promise.all(Array.from({ length: 8 }, () => later.accounts.getOwnUser()));
        assert.deepEqual(new Set(answers.map(({ user }) => user.email)), new Set([facts.owner.email]));
        assert.equal(seen.length, 2, "one refresh for all of them");
        assert.notEqual(seen[1].refreshToken, seen[0].refreshToken);
        assert.deepEqual(later.tokens, seen[1]);
    });
}

test("a session that cannot be renewed is over", async () => {
    const { seen, later } = await session({ expiresAt: 0, refreshToken: "x".repeat(43) });
    await assert.rejects(later.accounts.getOwnUser(), AuthenticationError);
    assert.equal(later.tokens, undefined);
    assert.equal(seen.at(-1), undefined);
});

test("a service that is away ends no session", async () => {
    const { first, seen } = await session({});
    const lost = new Gatehouse("http://127.0.0.1:9", { tokens: { ...first.tokens, expiresAt: 0 } });
    await assert.rejects(lost.accounts.getOwnUser(),
        (error) => error instanceof UnavailableError && error.status === 0 && error.code === "service.notReached");
    assert.notEqual(lost.tokens, undefined);
    assert.equal(seen.length, 1);
});

test("an answer that does not come is a service that is away", async () => {
    const held = (url, { signal }) => new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
    });
    const gatehouse = new Gatehouse(facts.baseUrl, { timeout: 20, fetch: held });
    await assert.rejects(gatehouse.service.getVersion(),
        (error) => error instanceof UnavailableError && /no answer in time/.test(error.message));
});

test("an error names every wrong value, the request, and what is missing", async () => {
    const owner = await signedIn(facts.owner);
    await assert.rejects(owner.accounts.createUser({ newUser: { email: "nobody", firstName: "", lastName: "L" } }),
        (error) => {
            assert.ok(error instanceof InvalidRequestError);
            assert.deepEqual([error.status, error.code], [400, "request.invalid"]);
            assert.deepEqual(new Set(error.validation.map(({ path }) => path)), new Set(["email", "firstName"]));
            assert.ok(error.requestId.length >= 8 && !("requestId" in error.details));
            return true;
        });
    await assert.rejects(owner.service.getSettings(),
        (error) => error instanceof PermissionDeniedError && error.required === "sys:settings:a");
});

test("whatever is answered becomes an error", async () => {
    for (const [status, body, kind, code] of [
        [429, '{"code": "rate.limited", "message": "Too many tries."}', RateLimitedError, "rate.limited"],
        [500, '{"code": "database.unavailable"}', UnavailableError, "database.unavailable"],
        [502, "<html>Bad Gateway</html>", UnavailableError, "http.502"],
        [400, '{"code": 5, "body": [], "validation": [3, {"path": "a"}]}', InvalidRequestError, "http.400"],
    ]) {
        const gatehouse = new Gatehouse(facts.baseUrl, {
            fetch: async () => new Response(body, { status, headers: { "Retry-After": "7" } }) });
        await assert.rejects(gatehouse.service.getVersion(), (error) => {
            assert.equal(error.constructor, kind);
            assert.deepEqual([error.status, error.code, error.retryAfter], [status, code, 7]);
            return error.message !== "";
        });
    }
});

test("files are stored together, and a list is read page after page", async () => {
    const owner = await signedIn(facts.owner);
    const tag = randomUUID();
    const files = Array.from({ length: 5 }, (_, number) => textFile(`${number}.txt`));
    const made = await owner.uploadTogether(files, { bucket: "files", type: "misc", tags: [tag, "with blank"] });
    assert.deepEqual(made.map(({ info }) => info.name), files.map(({ name }) => name));
    assert.deepEqual(made[0].tags, [tag, "with blank"]);
    const found = [];
    for await (const record of iterate((page) => owner.files.listFiles({ ...page, limit: 2, tag }))) {
        found.push(record.id);
    }
    assert.deepEqual(found, made.map(({ id }) => id).reverse());
});

test("one file is a list of one, and a file that is there already is named", async () => {
    const owner = await signedIn(facts.owner);
    const file = textFile("one.txt");
    const [record] = await owner.uploadTogether([file], { bucket: "files", type: "misc" });
    const bytes = await owner.files.downloadFile({ id: record.id });
    assert.equal(await bytes.text(), await file.text());
    await assert.rejects(owner.uploadTogether([file], { bucket: "files", type: "misc" }),
        (error) => error instanceof DuplicateFileError && error.fileId === record.id);
});

test("lists of choices reach the service as lists", async () => {
    const administrator = await signedIn(facts.admin);
    const { organisation } = await administrator.accounts.createCustomer({ signupRequest: {
        organisation: { name: "Lists Ltd" }, email: `list.${randomUUID()}@example.com`, firstName: "L", lastName: "L",
        services: ["inventory", "logistics"] } });
    assert.deepEqual(organisation.services, ["inventory", "logistics"]);
});
