-- Takes letters that are due, for a while: who is killed meanwhile has them tried again.
--
-- KEYS  1 due  2 hash of letters  3 tries
-- ARGV  1 now in ms  2 most letters  3 ms until which they are ours  4 ms at which one can be due
--       at the latest: what is later was put there by a clock that ran ahead, and is due
-- Returns  for each {letter, packed entry, how often it was tried, this time included}

local taken = {}
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #due == 0 then
  due = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[4], '+inf', 'LIMIT', 0, ARGV[2])
end
for _, letter in ipairs(due) do
  local entry = redis.call('HGET', KEYS[2], letter)
  if entry then
    redis.call('ZADD', KEYS[1], ARGV[3], letter)
    taken[#taken + 1] = {letter, entry, redis.call('HINCRBY', KEYS[3], letter, 1)}
  else
    redis.call('ZREM', KEYS[1], letter)
  end
end
return taken
