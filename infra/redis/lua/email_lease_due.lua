-- Leases e-mails that are due: if the holder is killed they are due again when the lease ends.
--
-- KEYS  1 due  2 hash of e-mails  3 tries
-- ARGV  1 now in ms  2 most e-mails  3 when the lease ends, ms  4 the latest ms at which an e-mail
--       can be due: one that is later was added by a clock that ran ahead, and is due
-- Returns  for each {id, packed entry, how often it was tried, this time included}

local leased = {}
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[2])
if #due == 0 then
  due = redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. ARGV[4], '+inf', 'LIMIT', 0, ARGV[2])
end
for _, id in ipairs(due) do
  local entry = redis.call('HGET', KEYS[2], id)
  if entry then
    redis.call('ZADD', KEYS[1], ARGV[3], id)
    leased[#leased + 1] = {id, entry, redis.call('HINCRBY', KEYS[3], id, 1)}
  else
    redis.call('ZREM', KEYS[1], id)
  end
end
return leased
