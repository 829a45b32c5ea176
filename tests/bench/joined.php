<?php
// SPDX-License-Identifier: MIT
// The peer of an authorised read: a persistent connection and the join over the same tables, without any token. The path
// is /USER/SESSION/FILE, each id in 32 hexadecimal digits.
mysqli_report(MYSQLI_REPORT_ERROR | MYSQLI_REPORT_STRICT);
[, $user, $session, $file] = explode('/', $_SERVER['REQUEST_URI']);
foreach ([$user, $session, $file] as $id)
    if (strlen($id) !== 32 || strspn($id, '0123456789abcdef') !== 32) {
        http_response_code(400);
        exit;
    }
$database = new mysqli('p:localhost', $_SERVER['DATABASE_USER'], '', $_SERVER['DATABASE_NAME'], 0, $_SERVER['DATABASE_SOCKET']);
$rows = $database->query(
    "SELECT u.organisation_id, u.permissions, u.status, o.status AS organisation_status, s.id IS NOT NULL AS good,"
    . " ur.role_id, p.permission, f.bucket, f.type, f.name, f.hash, f.content_type, f.size, f.user_id"
    . " FROM user u JOIN organisation o ON o.id = u.organisation_id"
    . " LEFT JOIN session s ON s.id = X'$session' AND s.user_id = u.id AND s.ended_at IS NULL"
    . " AND s.expires_at > UTC_TIMESTAMP(3)"
    . " LEFT JOIN file f ON f.id = X'$file' AND f.organisation_id = u.organisation_id"
    . " LEFT JOIN user_role ur ON ur.user_id = u.id LEFT JOIN role_permission p ON p.role_id = ur.role_id"
    . " WHERE u.id = X'$user'")->fetch_all(MYSQLI_ASSOC);
$granted = false;
foreach ($rows as $row)
    $granted = $granted || in_array($row['permission'], ['rwx:*', 'cus:*:w', 'cus:file:r'], true);
if (!$granted || !$rows[0]['good'] || $rows[0]['status'] !== 'active' || $rows[0]['organisation_status'] !== 'active') {
    http_response_code(403);
    exit;
}
header('Content-Type: application/json; charset=utf-8');
echo json_encode([
    'bucket' => $rows[0]['bucket'], 'type' => $rows[0]['type'], 'name' => $rows[0]['name'],
    'organisationId' => bin2hex($rows[0]['organisation_id']), 'hash' => bin2hex($rows[0]['hash']),
    'contentType' => $rows[0]['content_type'], 'url' => "/system/files/$file", 'userId' => bin2hex($rows[0]['user_id']),
    'size' => (int) $rows[0]['size'],
]);
