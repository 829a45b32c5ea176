/* SPDX-License-Identifier: MIT */
/* The words for states, roles and areas of permissions. What these tables do not know stands as it is. */
import { t } from "../texts.js";

const STATUSES = {
    "active": ["good", () => t("Active")],
    "awaiting-first-login": ["warning", () => t("Invited")],
    "awaiting-confirmation": ["warning", () => t("Not confirmed")],
    "disabled": ["neutral", () => t("Disabled")],
};

/* [the meaning of the badge, its word] */
export function statusWords(status) {
    const [meaning, word] = STATUSES[status] || ["neutral", () => status];
    return [meaning, word()];
}

export function statusOptions() {
    return [{ value: "", label: t("All") }, ...Object.entries(STATUSES).map(([value, [, word]]) => ({
        value, label: word(),
    }))];
}

const ROLES = {
    "owner": () => t("Owner"),
    "inv-manage": () => t("Inventory"),
    "log-manage": () => t("Logistics"),
    "account-admin": () => t("Account administrator"),
    "admin": () => t("Administrator"),
};

export function roleName(id) {
    return ROLES[id] === undefined ? id : ROLES[id]();
}

const AREAS = {
    "cus:file": () => t("Files"),
    "cus:user": () => t("People and their rights"),
    "cus:org": () => t("The organisation"),
    "cus:audit": () => t("Audit trail"),
    "sys:audit": () => t("Audit trail of the whole service"),
    "sys:cache": () => t("Cache of the service"),
    "sys:settings": () => t("Settings of the service"),
    "sys:stats": () => t("Numbers of the service"),
};

export function areaName(area) {
    return AREAS[area] === undefined ? area : AREAS[area]();
}

export function levelName(letter) {
    switch (letter) {
    case "r":
        return t("Read");
    case "w":
        return t("Read and change");
    case "a":
        return t("All organisations");
    default:
        return t("Not by itself");
    }
}

export function personName(person) {
    return `${person.firstName} ${person.lastName}`.trim();
}

export function isLocked(person) {
    return person.lockedUntil !== null && Date.parse(person.lockedUntil) > Date.now();
}
