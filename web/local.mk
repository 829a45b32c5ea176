# SPDX-License-Identifier: MIT
# The pages for people and the console. tools/checks/check-console compares the lists of the console with its files.

webdir = $(pkgdatadir)/web
webassetsdir = $(webdir)/assets
webapidir = $(webdir)/api
webconsoledir = $(webdir)/console
webauditdir = $(webconsoledir)/audit
webcomponentsdir = $(webconsoledir)/components
webfilesdir = $(webconsoledir)/files
weborganisationsdir = $(webconsoledir)/organisations
webscreensdir = $(webconsoledir)/screens
webstyledir = $(webconsoledir)/style
websystemdir = $(webconsoledir)/system
webteamdir = $(webconsoledir)/team
webtextsdir = $(webconsoledir)/texts
webuploaddir = $(webconsoledir)/upload
webvendordir = $(webconsoledir)/vendor

dist_web_DATA = web/favicon.ico web/robots.txt web/index.html web/console.html web/first-login.html web/confirm.html \
	web/cancel-email.html web/reset.html web/sign-in.html web/api.html
dist_webassets_DATA = web/assets/api.js web/assets/cancel-email.js web/assets/colour.js web/assets/config.js \
	web/assets/confirm.js web/assets/first-login.js web/assets/form.js web/assets/icon.svg \
	web/assets/page.js web/assets/reset.js web/assets/style.css web/assets/texts-de.js \
	web/assets/texts.js
dist_webapi_DATA = web/api/document.js web/api/frame.css web/api/page.js web/api/style.css web/api/view.js

dist_webconsole_DATA = web/console/api.js web/console/main.js web/console/preferences.js web/console/router.js \
	web/console/session.js web/console/shell.js web/console/signs.svg web/console/stats.js web/console/texts.js \
	web/console/view.js
dist_webcomponents_DATA = web/console/components/basic.js web/console/components/form.js \
	web/console/components/list.js \
	web/console/components/overlay.js web/console/components/save.js

# One line a screen.
dist_webscreens_DATA =
dist_webscreens_DATA += web/console/screens/account-access.js web/console/screens/account.js

dist_webscreens_DATA += web/console/screens/file.js web/console/screens/files.js
dist_webfiles_DATA = web/console/files/actions.js web/console/files/edit.js web/console/files/filters.js \
	web/console/files/limits.js web/console/files/picture.js web/console/files/query.js web/console/files/quota.js \
	web/console/files/record.js
dist_webupload_DATA = web/console/upload/kind.js web/console/upload/pace.js web/console/upload/page.js \
	web/console/upload/panel.js web/console/upload/queue.js web/console/upload/send.js web/console/upload/walk.js
dist_webscreens_DATA += web/console/screens/audit.js
dist_webaudit_DATA = web/console/audit/actions.js

dist_webscreens_DATA += web/console/screens/home.js

dist_webscreens_DATA += web/console/screens/organisations.js
dist_weborganisations_DATA = web/console/organisations/edit.js

dist_webscreens_DATA += web/console/screens/sign-in.js

dist_webscreens_DATA += web/console/screens/system.js
dist_websystem_DATA = web/console/system/cache.js web/console/system/health.js web/console/system/parts.js \
	web/console/system/settings.js

dist_webscreens_DATA += web/console/screens/team.js
dist_webteam_DATA = web/console/team/actions.js web/console/team/person.js web/console/team/rights.js \
	web/console/team/words.js

dist_webstyle_DATA = web/console/style/base.css web/console/style/components.css web/console/style/screens.css \
	web/console/style/tokens.css
dist_webtexts_DATA = web/console/texts/de.js
dist_webvendor_DATA = web/console/vendor/LICENCES web/console/vendor/hooks.js web/console/vendor/htm.js \
	web/console/vendor/preact.js

EXTRA_DIST += web/console/README.md web/console/vendor/README.md tools/vendor-web
