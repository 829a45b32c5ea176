/* SPDX-License-Identifier: MIT */
/* The parts of the service that GET /system/health/ready names, and how they are. */
import { t } from "../texts.js";

const NAMES = {
    database: () => t("Database"),
    migrations: () => t("Migrations"),
    storage: () => t("File store"),
    identityProvider: () => t("Identity provider"),
    secrets: () => t("Secrets"),
    outbox: () => t("E-mails and jobs"),
    configuration: () => t("Configuration"),
    log: () => t("Log"),
    cache: () => t("Cache"),
    mail: () => t("Mail server"),
    scrub: () => t("Bytes read again"),
};

/* What the reply says of each part: [{name, title, state}]. A reply that is an error has them in its detail. */
export function partsOf(reply) {
    const said = reply.ok ? reply.body : reply.error.detail;
    return Object.keys(NAMES).filter((name) => said[name] !== undefined)
        .map((name) => ({ name, title: NAMES[name](), state: said[name] }));
}
