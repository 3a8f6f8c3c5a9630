-- Sets the due time of a match to that of its snapshot, if the match is as it was read.
--
-- KEYS  1 snapshot  2 due
-- ARGV  1 head of the match as it was read (32 bytes)  2 board  3 when it is due, ms, 0 for never
-- Returns  1 repaired | 0 (it was right, or the match has moved on: nothing written)

if redis.call('GETRANGE', KEYS[1], 0, 31) ~= ARGV[1] then
  return 0
end
local current = redis.call('ZSCORE', KEYS[2], ARGV[2])
if ARGV[3] == '0' then
  return redis.call('ZREM', KEYS[2], ARGV[2])
end
if current and tonumber(current) == tonumber(ARGV[3]) then
  return 0
end
redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
return 1
