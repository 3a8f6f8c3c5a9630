-- Takes members of a sorted set that are due, so that nobody else takes them until they are due again.
--
-- KEYS  1 the sorted set
-- ARGV  1 now  2 when they are due again if nobody removes them  3 most members
-- Returns  the members, the one that was due first first

local found = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', ARGV[1], 'LIMIT', 0, ARGV[3])
for _, member in ipairs(found) do
  redis.call('ZADD', KEYS[1], ARGV[2], member)
end
return found
