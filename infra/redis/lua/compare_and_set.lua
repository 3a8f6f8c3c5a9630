-- Makes, changes or deletes a value, if it is still as it was read.
--
-- KEYS  1 the value's key
-- ARGV  1 the value that was read, '' for none  2 the new value, '' to delete it
--       3 ms the new value lasts, 0 for no expiry
-- Returns  1 | 0 (the value has changed; nothing written)

if (redis.call('GET', KEYS[1]) or '') ~= ARGV[1] then
  return 0
end
if ARGV[2] == '' then
  redis.call('DEL', KEYS[1])
elseif ARGV[3] == '0' then
  redis.call('SET', KEYS[1], ARGV[2])
else
  redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
end
return 1
