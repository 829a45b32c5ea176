-- SPDX-License-Identifier: MIT
-- wrk's script: load.lua PATHS TOKENS FIRST. PATHS holds one path a line, gone through in order. TOKENS is "-" or a file
-- of access tokens, one a line, gone through from line FIRST on. The result is one line of JSON.

local threads = 0

function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

local function lines(name)
    local list = {}
    for line in io.lines(name) do
        list[#list + 1] = line
    end
    return list
end

function init(arguments)
    paths = lines(arguments[1])
    tokens = arguments[2] ~= "-" and lines(arguments[2]) or nil
    token_at = (tonumber(arguments[3]) or 0) + number
    at = number * 7919
    heads = {}
    for i, path in ipairs(paths) do
        heads[i] = "GET " .. path .. " HTTP/1.1\r\nHost: " .. wrk.host .. "\r\n"
    end
end

function request()
    at = at + 1
    local head = heads[at % #heads + 1]
    if tokens == nil then
        return head .. "\r\n"
    end
    token_at = token_at + 1
    return head .. "Authorization: Bearer " .. tokens[token_at % #tokens + 1] .. "\r\n\r\n"
end

function done(summary, latency, requests)
    local points = {}
    for _, percent in ipairs({1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9}) do
        points[#points + 1] = string.format('"%g":%d', percent, latency:percentile(percent))
    end
    local errors = summary.errors
    io.write(string.format('\n{"requests":%d,"microseconds":%d,"refused":%d,"broken":%d,"latency":{%s}}\n',
        summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout, table.concat(points, ",")))
end
