# SPDX-License-Identifier: MIT
"""The kinds of requests in which each step fails once.

A kind is named after the operations of the OpenAPI document that it asks for, in their order, and after a colon comes
what sets it apart: "createUpload, terminateUpload", "login: on a device that is known". Every operation is in one of
them (test_requests.py)."""

from support.accounts import invitation
from support.members import USERS, body

import support_file_requests as files
import support_people_requests as people
from support_ground import Ground, second_page


def operations(name):
    """The operations that a kind asks for."""
    return name.partition(":")[0].split(", ")


def get(path):
    """A kind that reads, with the ground's members in the path."""
    return lambda ground: ground.call("GET", path.format(ground=ground))


def staff_gets(path):
    """A kind that internal staff reads."""
    return lambda ground: ground.ask("GET", path.format(ground=ground))


REQUESTS = {
    "login": people.log_in,
    "getOwnUser": get("/customers/me"),
    "updateOwnUser": lambda ground: ground.call("PATCH", "/customers/me", {"firstName": "Olive"}),
    "listUsers": get(f"{USERS}?search=o"),
    "authorise": lambda ground: ground.call("POST", "/customers/authorise", {
        "userId": ground.account.id, "permissions": ["cus:file:r", "inv:part:w"]}),
    "listSessions": get("/customers/sessions"),
    "listFiles": get("/system/files?limit=5&sort=largest"),
    "uploadFiles": Ground.upload,
    "createUpload, terminateUpload": files.begin_upload,
    "downloadFile": get("/system/files/{ground.file}"),
    "updateFile": lambda ground: ground.call("PATCH", f"/system/files/{ground.file}", {"tags": ["one", "two"]}),
    "createFileLink": lambda ground: ground.call("POST", f"/system/files/{ground.file}/link", {"expiresIn": 60}),
    "listOwnAuditEntries": get("/customers/organisation/audit?limit=5"),
    "updateOwnUser: a wrong body": lambda ground: ground.call("PATCH", "/customers/me", {"firstName": 7, "x": [{}]}),
}

MORE_REQUESTS = {
    "refreshTokens": people.refresh,
    "login: on a device that is known": people.log_in_on_device,
    "updateOwnUser: all of it": lambda ground: ground.call("PATCH", "/customers/me", {
        "firstName": "Olive", "lastName": "Owner", "phone": "+4512345678", "locale": "de"}),
    "authorise: one's own permission": lambda ground: ground.call("POST", "/customers/authorise", {
        "permission": "cus:file:r"}),
    "authorise: a wrong body": lambda ground: ground.call("POST", "/customers/authorise", {
        "userId": ground.account.id, "permission": "cus:*:r", "permissions": ["cus:file:r", "none"]}),
    "listUsers: of one state": get(f"{USERS}?status=active&limit=5"),
    "listUsers: a second page": second_page(f"{USERS}?limit=1"),
    "listFiles: a second page by name": files.second_page("name"),
    "listFiles: a second page from the oldest": files.second_page("oldest"),
    "listFiles: with every filter": get(
        "/system/files?status=all&bucket=files&type=misc&tag=one&name=a&since=2026-01-01T00:00:00Z&limit=5"
        "&userId={ground.account.id}"),
    "listFiles: a wrong cursor": get("/system/files?sort=name&cursor=bmFtZSB4IHk"),
    "archiveFiles, restoreFiles": files.archive,
    "archiveFiles, restoreFiles: several": files.archive_several,
    "updateFile: the name of another": files.take_name,
    "openFileLink": files.open_link,
    "listFileLinks": get("/system/files/{ground.file}/links"),
    "getUser": get(f"{USERS}/{{ground.colleague}}"),
    "listUserPermissions": get(f"{USERS}/{{ground.colleague}}/permissions"),
    "listUserSessions": get(f"{USERS}/{{ground.colleague}}/sessions"),
    "updateUser": lambda ground: ground.call("PATCH", f"{USERS}/{ground.colleague}", {"lastName": "Grey"}),
    "simulateGrants": lambda ground: ground.call("POST", "/customers/authorise/simulate", {
        "userId": ground.colleague, "roles": []}),
    "simulateGrants: what is refused": lambda ground: ground.call("POST", "/customers/authorise/simulate", {
        "userId": ground.colleague, "roles": ["admin"], "permissions": ["cus:file:r"]}),
    "listRoles": get("/customers/roles"),
    "listPermissions": get("/customers/permissions"),
    "getOwnOrganisation": get("/customers/organisation"),
    "updateOwnOrganisation": lambda ground: ground.call("PATCH", "/customers/organisation", {"name": "Example"}),
    "getFileInformation": get("/system/files/{ground.file}/info"),
    "getLimits": get("/system/limits"),
    "getBranding": get("/system/branding"),
    "getVersion": get("/system/version"),
    "getMetrics": get("/system/metrics"),
    "getOpenApiDocument": get("/system/openapi.json"),
    "describeUploads": lambda ground: ground.call("OPTIONS", "/system/uploads", token=None),
    "checkLiveness": get("/system/health/live"),
    "checkReadiness": get("/system/health/ready"),
    "listSigningKeys": get("/.well-known/jwks.json"),
}

# All others: those that use up what they are made with, and those of internal staff.
OTHER_REQUESTS = {
    "createCustomer": lambda ground: ground.ask("POST", "/customers/signup", invitation()),
    "createUser": lambda ground: ground.call("POST", USERS, body()),
    "createUser: invited": lambda ground: ground.call("POST", USERS, body(password=None, roles=["inv-manage"])),
    "resendUserInvitation": lambda ground: ground.call("POST", f"{USERS}/{ground.waiting(password=None)}/resend"),
    "unlockUser": lambda ground: ground.call("POST", f"{USERS}/{ground.colleague}/unlock"),
    "eraseUser": people.erase,
    "updateUser: roles and permissions": people.change_grants,
    "updateUser: disabled": people.disable,
    "adminConfirmSignup": lambda ground: ground.ask("POST", "/customers/admin-confirm-signup", {
        "username": ground.waiting()}),
    "confirmSignup": people.confirm_sign_up,
    "login: for the first time": people.log_in_first,
    "resendConfirmation": people.ask_for_mail("/customers/resend-confirmation"),
    "requestPasswordReset": people.ask_for_mail("/customers/forgotten-password"),
    "resetPassword": people.reset_password,
    "changePassword": people.change_password,
    "adminSetPassword": people.set_password,
    "changeEmail": people.change_address,
    "confirmEmailChange": people.confirm_address,
    "cancelEmailChange": people.cancel_address,
    "logout": people.log_out({}),
    "logout: everywhere": people.log_out({"everywhere": True}),
    "logout: the others": people.log_out({"others": True}),
    "endSession": people.end_session,
    "endUserSession": people.end_session_of_friend,
    "endUserSessions": lambda ground: ground.call("DELETE", f"{USERS}/{ground.colleague}/sessions"),
    "listOrganisations": staff_gets("/customers/organisations?limit=5"),
    "listOrganisations: a second page": second_page(
        "/customers/organisations?limit=1&status=active&search=e", Ground.ask),
    "getOrganisation": staff_gets("/customers/organisations/{ground.account.organisation[id]}"),
    "updateOrganisation": lambda ground: ground.ask(
        "PATCH", f"/customers/organisations/{ground.account.organisation['id']}", {"quotaFiles": 1000}),
    "updateOrganisation: its services": people.change_services,
    "updateOrganisation: disabled": people.disable_customer,
    "uploadFiles: bytes that are there already": files.upload_again,
    "uploadFiles: a file that is there already": files.upload_duplicate,
    "archiveFile, restoreFile": files.archive_one,
    "revokeFileLink": files.revoke_link,
    "createUpload, continueUpload, getUploadOffset, terminateUpload": files.send_a_piece,
    "createUpload, continueUpload: to the end": files.send_whole,
    "listAuditEntries": staff_gets("/system/audit?limit=5"),
    "listAuditEntries: exported as lines": lambda ground: ground.ask(
        "GET", "/system/audit?limit=5", headers={"Accept": "application/x-ndjson"}),
    "listOwnAuditEntries: exported as a table": lambda ground: ground.call(
        "GET", "/customers/organisation/audit?limit=2", headers={"Accept": "text/csv"}),
    "getCacheStatistics": staff_gets("/system/cache"),
    "updateCache": lambda ground: ground.ask("POST", "/system/cache", {"keys": ["jwks:x"], "prefixes": ["jwks:"]}),
    "updateCache: the secrets": lambda ground: ground.ask("POST", "/system/cache", {"secrets": True}),
    "getSettings": staff_gets("/system/settings"),
    "updateSettings": lambda ground: ground.ask("PUT", "/system/settings", {
        "logging": {"level": "info", "filter": ""}}),
    "updateSettings: another version is wanted": lambda ground: ground.ask(
        "PUT", "/system/settings", {"logging": {"level": "info", "filter": ""}}, headers={"If-Match": '"1"'}),
    "listSettingsVersions": staff_gets("/system/settings/history?limit=5"),
    "listHostStatistics": staff_gets("/system/stats?since=2026-01-01T00:00:00Z"),
}

# What they are answered with when nothing fails, other than 200.
USUAL = {
    "updateOwnUser: a wrong body": 400, "authorise: a wrong body": 400, "listFiles: a wrong cursor": 400,
    "createUpload, terminateUpload": 204, "createUpload, continueUpload, getUploadOffset, terminateUpload": 204,
    "createUpload, continueUpload: to the end": 204, "describeUploads": 204, "updateFile: the name of another": 409,
    "uploadFiles: a file that is there already": 409, "updateSettings: another version is wanted": 409,
}
