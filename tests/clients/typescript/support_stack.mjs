// SPDX-License-Identifier: MIT
// What test_typescript_client.py tells these tests: the compiled client, and people who can sign in.

import net from "node:net";
import { once } from "node:events";

export const facts = JSON.parse(process.env.GATEHOUSE_CLIENT_FACTS);
export const client = await import(facts.client);
export const { Gatehouse } = client;

export async function signedIn(person, options = {}) {
    const gatehouse = new Gatehouse(facts.baseUrl, options);
    await gatehouse.signIn(person.email, person.password);
    return gatehouse;
}

/** A hop to the service. After `breakAfter(count)`, the connection that brings the count-th byte from then on is cut in
    the middle of what it carries; then bytes are handed on again. */
export class Breaker {
    cuts = 0;
    #left;
    #server = net.createServer((from) => this.#carry(from));
    #sockets = new Set();

    async start() {
        this.#server.listen(0, "127.0.0.1");
        await once(this.#server, "listening");
        this.baseUrl = `http://127.0.0.1:${this.#server.address().port}`;
        return this;
    }

    stop() {
        this.#server.close();
        this.#sockets.forEach((socket) => socket.destroy());
    }

    breakAfter(count) {
        this.#left = count;
    }

    #carry(from) {
        const { hostname, port } = new URL(facts.baseUrl);
        const to = net.connect(Number(port), hostname);
        for (const [one, other] of [[from, to], [to, from]]) {
            this.#sockets.add(one);
            one.on("error", () => other.destroy());
            one.on("close", () => other.destroy());
        }
        to.on("data", (data) => from.write(data));
        from.on("data", (data) => {
            if (this.#left === undefined || data.length <= this.#left) {
                this.#left = this.#left === undefined ? undefined : this.#left - data.length;
                to.write(data);
                return;
            }
            to.write(data.subarray(0, this.#left), () => to.end());
            this.#left = undefined;
            this.cuts += 1;
            from.destroy();
        });
    }
}
