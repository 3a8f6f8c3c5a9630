-- Takes a lane's lease if nobody holds it.
--
-- KEYS  1 lease  2 held mark
-- ARGV  1 token  2 ms it lasts
-- Returns  'busy' | 'taken' | 'expired' (taken, and the holder before never released it)

local holder = redis.call('GET', KEYS[1])
if holder and holder ~= 'wanted' then
  return 'busy'
end
local left = redis.call('EXISTS', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], ARGV[1])
if left == 1 then
  return 'expired'
end
return 'taken'
