-- SPDX-License-Identifier: MIT
-- wrk's script: requests.lua REQUESTS PAYLOAD. REQUESTS holds one whole request a line, CR LF written as \r\n; they are sent
-- in order, round and round. Where a request says \P stand the bytes of the file PAYLOAD ("-": there is none), the first
-- 32 of them different each time. The result is one line of JSON.

local threads = 0

function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
end

function init(arguments)
    heads, tails = {}, {}
    for line in io.lines(arguments[1]) do
        local text = line:gsub("\\r\\n", "\r\n")
        local at = text:find("\\P", 1, true)
        heads[#heads + 1] = at and text:sub(1, at - 1) or text
        tails[#heads] = at and text:sub(at + 2) or false
    end
    if arguments[2] ~= "-" then
        local file = assert(io.open(arguments[2], "rb"))
        rest = file:read("*a"):sub(33)
        file:close()
    end
    at = number * 7919
    stamp = os.time()
end

function request()
    at = at + 1
    local i = at % #heads + 1
    if not tails[i] then
        return heads[i]
    end
    return table.concat({heads[i], string.format("%016d%016d", stamp, at), rest, tails[i]})
end

function done(summary, latency, requests)
    local points = {}
    for _, percent in ipairs({1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 99.99}) do
        points[#points + 1] = string.format('"%g":%d', percent, latency:percentile(percent))
    end
    local errors = summary.errors
    io.write(string.format('\n{"requests":%d,"microseconds":%d,"refused":%d,"broken":%d,"latency":{%s}}\n',
        summary.requests, summary.duration, errors.status,
        errors.connect + errors.read + errors.write + errors.timeout, table.concat(points, ",")))
end
