-- What wrk sends and prints.
local kind, run, count = "pages", 0, 0

function init(args)
  kind = args[1] or kind
  local file = io.open("/dev/urandom", "rb")
  for byte in file:read(4):gmatch(".") do run = run * 256 + byte:byte() end
  file:close()
end

function request()
  if kind == "pages" then return wrk.format("GET", nil, { ["Accept-Encoding"] = "br" }) end
  count = count + 1
  local body = string.format(
    '{"name":"Ada Lovelace","email":"ada.%d.%d@example.com","company":"Analytical Engines","job_title":"Engineer"}',
    run, count)
  return wrk.format("POST", "/api/earlyaccess", { ["Content-Type"] = "application/json" }, body)
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"seconds":%f,"failed":%d}',
    summary.requests, summary.duration / 1e6,
    errors.connect + errors.read + errors.write + errors.timeout + errors.status))
end
