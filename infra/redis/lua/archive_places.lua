-- Moves matches that are in the archive from the sorted set of a list of finished matches to its archived
-- places, if these are as they were read.
--
-- KEYS  1 checkpoint  2 hold  3 set of the bucket's keys  4 the list, a sorted set  5 its archived places, a hash
-- ARGV  1 most ms that a hold can have left  2 number of archived places as it was read, or ''
--       3 how many words of fields and values for KEYS 5 follow; then these, then the members that leave KEYS 4
-- Returns  'done' | 'moved' (another writer was first, or the bucket or the list was deleted)
--          | 'held' (another process replaces the data); the last two have written nothing

local left = redis.call('EXISTS', KEYS[2]) == 1 and redis.call('PTTL', KEYS[2]) or -1
if left >= 0 and left <= tonumber(ARGV[1]) then
  return 'held'
end
local last = 3 + tonumber(ARGV[3])
if redis.call('EXISTS', KEYS[1]) == 0 or (redis.call('HGET', KEYS[5], 'n') or '') ~= ARGV[2] then
  return 'moved'
end
for at = last + 1, #ARGV do
  if not redis.call('ZSCORE', KEYS[4], ARGV[at]) then
    return 'moved'
  end
end
-- first what needs no memory: a server without any refuses only scripts that begin with another command
for at = last + 1, #ARGV do
  redis.call('ZREM', KEYS[4], ARGV[at])
end
for at = 4, last, 2 do
  redis.call('HSET', KEYS[5], ARGV[at], ARGV[at + 1])
end
redis.call('SADD', KEYS[3], string.sub(KEYS[5], #KEYS[3] - #'keys' + 1))
return 'done'
