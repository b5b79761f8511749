-- Closed-loop HTTP load for wrk, which sends what bench/generator/wrk.ts planned:
--
--   wrk -t1 -c64 -d10s -s load.lua http://127.0.0.1:9991 -- plan.lua [check]
--
-- plan.lua returns the requests as bytes, cut where the digits of a marker belong. wrk has no state per connection, so
-- the senders take turns: in each block every slot sends the first request of its cycle, then every slot its second. A
-- block is so large that a request is answered before the same slot's next one is sent.
--
-- `check` inspects every answer, which costs wrk a third of its speed: it is for the warm-up. Without it wrk counts
-- statuses from 400 on. The last line on stdout is the report as JSON.

local DIGITS = 8
local MARKERS_MAX = 10 ^ DIGITS
local BODY_CHARACTERS_MAX = 500

-- The state of a thread is global, because `done` reads it from another Lua state with thread:get.
sent, answers, body_bytes, refused, first_status, first_body = 0, 0, 0, 0, 0, ""

local threads = {}

function setup(thread)
  threads[#threads + 1] = thread
end

function init(args)
  local plan = dofile(args[1])
  local cycles, block, first = plan.cycles, plan.block, plan.first
  local round_requests = block * plan.steps
  local marker_format = "%0" .. DIGITS .. "d"

  function request()
    local round = math.floor(sent / round_requests)
    local within = sent % round_requests
    local slot = within % block
    local pieces = cycles[slot % #cycles + 1][math.floor(within / block) + 1]
    sent = sent + 1
    if #pieces == 1 then return pieces[1] end
    return table.concat(pieces, string.format(marker_format, (first + round * block + slot) % MARKERS_MAX))
  end

  if args[2] ~= "check" then return end
  function response(status, _, body)
    answers = answers + 1
    body_bytes = body_bytes + #body
    if status == 200 then return end
    refused = refused + 1
    if refused > 1 then return end
    first_status = status
    first_body = body:sub(1, BODY_CHARACTERS_MAX)
  end
end

local function quoted(text)
  return '"' .. text:gsub('[%c"\\\128-\255]', function(c) return string.format("\\u%04x", c:byte()) end) .. '"'
end

function done(summary, latency)
  local sums = { sent = 0, answers = 0, body_bytes = 0, refused = 0 }
  local status, body = 0, ""
  for _, thread in ipairs(threads) do
    for name, sum in pairs(sums) do sums[name] = sum + thread:get(name) end
    if status == 0 then status, body = thread:get("first_status"), thread:get("first_body") end
  end
  local percentiles = {}
  for index, percentile in ipairs({ 0, 10, 25, 50, 75, 90, 95, 99, 99.5, 99.9, 99.95, 99.99, 100 }) do
    local value = latency.max
    if percentile == 0 then value = latency.min
    elseif percentile < 100 then value = latency:percentile(percentile) end
    percentiles[index] = string.format("%d", value)
  end
  local errors = summary.errors
  local numbers = {
    requests = summary.requests, duration_us = summary.duration, mean_us = latency.mean,
    connect_errors = errors.connect, read_errors = errors.read, write_errors = errors.write,
    statuses_from_400 = errors.status, timeouts = errors.timeout,
    sent = sums.sent, checked = sums.answers, checked_body_bytes = sums.body_bytes, refused = sums.refused,
    first_status = status,
  }
  local fields = {}
  for name, value in pairs(numbers) do
    fields[#fields + 1] = string.format('"%s":%s', name, value == value and string.format("%.3f", value) or "0")
  end
  fields[#fields + 1] = '"first_body":' .. quoted(body)
  fields[#fields + 1] = '"percentiles_us":[' .. table.concat(percentiles, ",") .. "]"
  print("{" .. table.concat(fields, ",") .. "}")
end
