-- Extends or removes a mark that has our token as its value.
--
-- KEYS  1 the mark
-- ARGV  1 token  2 ms it lasts from now on; 0 to remove it
-- Returns  1 | 0 (the mark has another token, or has expired; nothing written)

if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
if ARGV[2] == '0' then
  redis.call('DEL', KEYS[1])
else
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
end
return 1
