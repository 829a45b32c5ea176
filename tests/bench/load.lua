-- SPDX-License-Identifier: MIT
-- wrk's script: load.lua REQUESTS TOKENS FIRST. REQUESTS holds one request a line, gone through in order: a path
-- to GET, or "POST path body". TOKENS is "-" or a file of access tokens, one a line, gone through from line FIRST on.

dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "result.lua")

local function lines(name)
    local list = {}
    for line in io.lines(name) do
        list[#list + 1] = line
    end
    return list
end

-- What stands before and after the line of the token.
local function parts(line)
    local path, body = line:match("^POST (%S+) (.*)$")
    local host = " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\n"
    if path == nil then
        return "GET " .. line .. host, "\r\n"
    end
    return "POST " .. path .. host, "Content-Type: application/json\r\nContent-Length: " .. #body .. "\r\n\r\n" .. body
end

function init(arguments)
    tokens = arguments[2] ~= "-" and lines(arguments[2]) or nil
    token_at = (tonumber(arguments[3]) or 0) + number
    at = number * 7919
    heads, tails = {}, {}
    for i, line in ipairs(lines(arguments[1])) do
        heads[i], tails[i] = parts(line)
    end
end

function request()
    at = at + 1
    local i = at % #heads + 1
    if tokens == nil then
        return heads[i] .. tails[i]
    end
    token_at = token_at + 1
    return heads[i] .. "Authorization: Bearer " .. tokens[token_at % #tokens + 1] .. "\r\n" .. tails[i]
end
