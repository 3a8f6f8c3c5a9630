-- Releases a lane's lease.
--
-- KEYS  1 lease  2 mark of an unreleased lease
-- ARGV  1 token
-- Returns  1 | 0 (another drain has the lease)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
