-- SPDX-License-Identifier: MIT
-- wrk's script: requests.lua REQUESTS PAYLOAD. REQUESTS holds one whole request a line, CR LF written as \r\n; they are sent
-- in order, round and round. Where a request says \P stand the bytes of the file PAYLOAD ("-": there is none), the first
-- 32 of them different each time.

dofile(debug.getinfo(1, "S").source:match("^@(.*/)") .. "../result.lua")

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
