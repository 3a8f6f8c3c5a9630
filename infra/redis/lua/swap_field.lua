-- Changes or deletes a field of a hash, if it is still as it was read.
--
-- KEYS  1 the hash
-- ARGV  1 field  2 the value that was read  3 the new value, '' to delete the field
-- Returns  1 | 0 (the value has changed, or is gone; nothing written)

if redis.call('HGET', KEYS[1], ARGV[1]) ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HDEL', KEYS[1], ARGV[1])
else
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
end
return 1
