-- Adds notices to an account's list, each once.
--
-- KEYS  1 sorted set: notice by time  2 (optional) what must exist: the account's record
-- ARGV  1 time in ms, or '' for TIME  2 most notices kept  3 seconds the set is kept
--       4.. notices
-- Returns  1 | 0 (the account was deleted; nothing written)
--
-- A notice that is in the set stays as it is. Its time is that of this script, not of its subject:
-- so a reader who has seen the set at a later time of the server has seen them all. Times grow along
-- the set, unless the last one is far ahead: then the clock was.

local set = KEYS[1]
if KEYS[2] and redis.call('EXISTS', KEYS[2]) == 0 then
  return 0
end
local at = tonumber(time_ms(ARGV[1]))
local last = tonumber(redis.call('ZRANGE', set, -1, -1, 'WITHSCORES')[2])
if last and last >= at and last < at + 60000 then
  at = last + 1
end
for i = 4, #ARGV do
  if redis.call('ZADD', set, 'NX', string.format('%.0f', at), ARGV[i]) == 1 then
    at = at + 1
  end
end
redis.call('ZREMRANGEBYRANK', set, 0, -tonumber(ARGV[2]) - 1)
redis.call('EXPIRE', set, ARGV[3])
return 1
