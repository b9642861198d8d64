-- The requests of wrk: sign-ups, each of a new visitor.
local run, count = 0, 0

function init()
  local file = io.open("/dev/urandom", "rb")
  for byte in file:read(4):gmatch(".") do run = run * 256 + byte:byte() end
  file:close()
end

function request()
  count = count + 1
  local body = string.format(
    '{"name":"Ada Lovelace","email":"ada.%d.%d@example.com","company":"Analytical Engines","job_title":"Engineer"}',
    run, count)
  return wrk.format("POST", "/api/earlyaccess", { ["Content-Type"] = "application/json" }, body)
end
