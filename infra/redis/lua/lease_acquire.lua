-- Acquires a lease if nobody has it.
--
-- KEYS  1 lease  2 mark of an unreleased lease
-- ARGV  1 token  2 ms it lasts
-- Returns  'busy' | 'acquired' | 'expired' (acquired, and its last holder never released it, or left a mark)
--
-- An existing mark stays, because its value is for this holder.
-- A lease with more time left than it can have was set by a clock that ran ahead: it has expired.

local holder = redis.call('GET', KEYS[1])
local left = redis.call('PTTL', KEYS[1])
if holder and holder ~= 'wanted' and left >= 0 and left <= tonumber(ARGV[2]) then
  return 'busy'
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
if redis.call('SETNX', KEYS[2], '') == 0 then
  return 'expired'
end
return 'acquired'
