-- Replaces a field of a hash that is still as it was read.
--
-- KEYS  1 the hash
-- ARGV  1 field  2 value that was read  3 new value
-- Returns  1, or 0 if it is another or is gone

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
