-- Releases a lane's lease.
--
-- KEYS  1 lease  2 held mark
-- ARGV  1 token
-- Returns  1 | 0 (it was not ours any more)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
return 1
