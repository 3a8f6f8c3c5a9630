-- Replaces a value, if it is still the one that was read.
--
-- KEYS  1 the value's key
-- ARGV  1 the value that was read  2 the new value
-- Returns  1 | 0 (it is another by now; nothing written)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('SET', KEYS[1], ARGV[2])
return 1
