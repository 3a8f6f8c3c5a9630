-- Drops lines of chat that were mailed to an account; newer lines of the match are mailed later.
--
-- KEYS  1 chats by when they are mailed  2 by their first line not mailed  3 by their newest line
-- ARGV  1 account and board  2 time of the newest line mailed, ms  3 when the rest is due, ms
-- Returns  1 if lines still wait, else 0

local last = tonumber(redis.call('ZSCORE', KEYS[3], ARGV[1]) or '0')
if last > tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
  redis.call('ZADD', KEYS[2], string.format('%.0f', tonumber(ARGV[2]) + 1), ARGV[1])
  return 1
end
for i = 1, 3 do
  redis.call('ZREM', KEYS[i], ARGV[1])
end
return 0
