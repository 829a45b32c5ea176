/* SPDX-License-Identifier: MIT */
/* The actions of the audit trail in words. The order is that of the filter. */
import { t } from "../texts.js";

const WORDS = {
    "user.login": () => t("Signed in"),
    "user.loginFailed": () => t("Could not sign in"),
    "user.logout": () => t("Signed out"),
    "user.logoutEverywhere": () => t("Signed out everywhere"),
    "user.logoutOthers": () => t("Ended their other sessions"),
    "session.end": () => t("Ended a session"),
    "session.refreshFailed": () => t("A session could not be renewed"),
    "session.reuse": () => t("A spent token was used: the session ended"),
    "user.create": () => t("Added a person"),
    "user.createAdmin": () => t("Added an administrator"),
    "user.update": () => t("Changed a person"),
    "user.disable": () => t("Disabled a person"),
    "user.erase": () => t("Erased a person"),
    "user.unlock": () => t("Ended the wait of a person"),
    "user.confirm": () => t("Confirmed the address"),
    "user.confirmFailed": () => t("Could not confirm the address"),
    "user.adminConfirm": () => t("Confirmed somebody's address"),
    "user.resendConfirmation": () => t("Had the first e-mail sent again"),
    "user.resendInvitation": () => t("Sent an invitation again"),
    "user.changePassword": () => t("Changed the password"),
    "user.forgottenPassword": () => t("Asked for a new password"),
    "user.resetPassword": () => t("Set a new password with a code"),
    "user.resetFailed": () => t("Could not set a new password"),
    "user.setPassword": () => t("Set somebody's password"),
    "user.setTemporaryPassword": () => t("Set a temporary password"),
    "user.emailChangeRequested": () => t("Asked for another e-mail address"),
    "user.emailChanged": () => t("Changed the e-mail address"),
    "user.emailChangeCancelled": () => t("Took back the new e-mail address"),
    "file.upload": () => t("Uploaded a file"),
    "file.download": () => t("Downloaded a file"),
    "file.update": () => t("Changed a file"),
    "file.archive": () => t("Archived a file"),
    "file.restore": () => t("Restored a file"),
    "file.link": () => t("Made a link to a file"),
    "file.unlink": () => t("Revoked a link"),
    "link.open": () => t("A link was opened"),
    "file.purge": () => t("A file was removed for good"),
    "file.infected": () => t("Refused a file with a virus"),
    "file.damaged": () => t("A file was found damaged"),
    "file.repaired": () => t("A file was repaired"),
    "upload.create": () => t("Began an upload in pieces"),
    "upload.expire": () => t("An upload in pieces expired"),
    "upload.terminate": () => t("Gave up an upload in pieces"),
    "organisation.update": () => t("Changed the organisation"),
    "organisation.disable": () => t("Disabled the organisation"),
    "customer.create": () => t("Created the organisation"),
    "access.crossOrganisation": () => t("Internal staff looked in"),
    "access.denied": () => t("Was refused"),
    "settings.update": () => t("Changed the settings"),
    "cache.update": () => t("Emptied parts of the cache"),
    "secrets.rotate": () => t("Changed the secrets"),
    "audit.purge": () => t("Removed old rows of the audit trail"),
};

/* What somebody did; an action of a newer service stands as it is. */
export function actionText(action) {
    const words = WORDS[action];
    return words === undefined ? action : words();
}

export function actionOptions() {
    return [{ value: "", label: t("Everything") },
        ...Object.keys(WORDS).map((action) => ({ value: action, label: actionText(action) }))];
}

const TARGETS = {
    user: () => t("Person"),
    file: () => t("File"),
    organisation: () => t("Organisation"),
    session: () => t("Session"),
    link: () => t("Link"),
    upload: () => t("Upload"),
    settings: () => t("Settings"),
};

export function targetText(type) {
    return type === null ? "–" : TARGETS[type] === undefined ? type : TARGETS[type]();
}
