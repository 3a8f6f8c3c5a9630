-- Releases a lease.
--
-- KEYS  1 lease  2 mark of an unreleased lease
-- ARGV  1 token  2 value of the mark for the next holder, empty for no mark
-- Returns  1 | 0 (another run has the lease)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1], KEYS[2])
if ARGV[2] ~= '' then
  redis.call('SET', KEYS[2], ARGV[2])
end
return 1
