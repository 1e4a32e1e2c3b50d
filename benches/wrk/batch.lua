-- wrk's script: a thousand deductions a request, each under a key of its own, from wallets chosen at random.
-- Environment: KEY, the secret key; WALLETS, how many; RUN, a name that no earlier run had; COST, what each costs;
-- MEMBERS, how many members use them, 0 for none.
local run, wallets = os.getenv("RUN"), tonumber(os.getenv("WALLETS"))
local head = "POST /api/v1/deductions/batch HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
  .. os.getenv("KEY") .. "\r\nContent-Type: application/json\r\nContent-Length: "
local cost = os.getenv("COST") or '"amount":1'
local members = tonumber(os.getenv("MEMBERS") or "0")
local threads = 0

function setup(thread)
  thread:set("number", threads)
  threads = threads + 1
end

local function who()
  return members > 0 and '"member":"member_' .. math.random(members) .. '",' or ""
end

function init()
  sent = 0
  math.randomseed(number + 1)
end

function request()
  sent = sent + 1
  local items, key = {}, run .. "-" .. number .. "-" .. sent .. "-"
  for item = 1, 1000 do
    items[item] = '{"externalUserId":"user_' .. math.random(wallets) .. '",' .. who() .. cost .. ',"idempotencyKey":"'
      .. key .. item .. '"}'
  end
  local body = '{"items":[' .. table.concat(items, ",") .. "]}"
  return head .. #body .. "\r\n\r\n" .. body
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"seconds":%f,"p50":%f,"p99":%f,"failed":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
