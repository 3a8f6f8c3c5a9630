-- Sets a mark that lasts for a while, unless there is one.
--
-- KEYS  1 the mark
-- ARGV  1 its value  2 ms it lasts  3 most ms that an existing mark can have left
-- Returns  1 | 0 (there is a mark; nothing written)
--
-- A mark with more time left was set by a clock that ran ahead, and counts as expired.

local left = redis.call('PTTL', KEYS[1])
if left >= 0 and left <= tonumber(ARGV[3]) then
  return 0
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
