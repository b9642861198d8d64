-- What wrk sends and prints.
local kind, run, count = "pages", 0, 0

-- The site counts a page view only for a browser.
local browser = {
  ["Accept"] = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  ["Accept-Encoding"] = "br",
  ["User-Agent"] = "Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",
}

function init(args)
  kind = args[1] or kind
  local file = io.open("/dev/urandom", "rb")
  for byte in file:read(4):gmatch(".") do run = run * 256 + byte:byte() end
  file:close()
end

function request()
  if kind == "pages" then return wrk.format("GET", nil, browser) end
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
