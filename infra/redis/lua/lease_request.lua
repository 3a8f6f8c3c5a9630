-- Requests a run under a lease: wakes its holder, or marks the run as requested.
--
-- KEYS  1 lease  2 list of wake-ups
-- ARGV  1 ms a request lasts  2 ms a lease lasts
-- Returns  1 (to be enqueued) | 0 (one runs, or was requested)
--
-- A lease with more time left than it can have was set by a clock that ran ahead: it has expired.

local holder = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
local most = tonumber(holder == 'wanted' and ARGV[1] or ARGV[2])
if holder and left >= 0 and left <= most then
  if holder ~= 'wanted' and redis.call('EXISTS', KEYS[2]) == 0 then
    redis.call('LPUSH', KEYS[2], '')
    redis.call('PEXPIRE', KEYS[2], ARGV[2])
  end
  return 0
end
redis.call('SET', KEYS[1], 'wanted', 'PX', ARGV[1])
return 1
