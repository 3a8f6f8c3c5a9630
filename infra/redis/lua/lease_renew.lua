-- Renews a lease, also one that has expired and that nobody else has acquired.
--
-- KEYS  1 lease  2 mark of an unreleased lease
-- ARGV  1 token  2 ms it lasts
-- Returns  1 | 0 (another run has the lease)
--
-- A lease with more time left than it can have was set by a clock that ran ahead: it has expired.

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] and holder ~= 'wanted' then
  local left = redis.call('PTTL', KEYS[1])
  if left >= 0 and left <= tonumber(ARGV[2]) then
    return 0
  end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SETNX', KEYS[2], '')
return 1
