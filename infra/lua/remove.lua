-- Deletes a value, if it is still the one that was read.
--
-- KEYS  1 the value's key
-- ARGV  1 the value that was read
-- Returns  1 | 0 (it is another by now, or none; nothing deleted)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
redis.call('DEL', KEYS[1])
return 1
