-- SPDX-License-Identifier: MIT
-- What wrk's scripts share: the number of each thread, and the result as one line of JSON, with the percentiles of measure.py.

local threads = 0

function setup(thread)
    thread:set("number", threads)
    threads = threads + 1
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
