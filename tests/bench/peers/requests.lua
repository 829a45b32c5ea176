-- SPDX-License-Identifier: MIT
-- wrk's script: requests.lua REQUESTS. REQUESTS holds one whole request a line, CR LF written as \r\n; they are sent in
-- order, round and round.

dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "../result.lua")

function init(arguments)
    requests = {}
    for line in io.lines(arguments[1]) do
        requests[#requests + 1] = line:gsub("\\r\\n", "\r\n")
    end
    at = number * 7919
end

function request()
    at = at + 1
    return requests[at % #requests + 1]
end
