-- Records how far a shard's log is published. It never goes back, because a publisher that was overtaken
-- may record late.
--
-- KEYS  1 {sNN}:published
-- ARGV  1 the size  2 the root in hex
-- Returns  1 | 0 (more is published; nothing written)

local found = redis.call('HMGET', KEYS[1], 'size', 'root', 'fault')
if tonumber(found[1] or '0') > tonumber(ARGV[1]) then
  return 0
end
if found[1] == ARGV[1] and found[2] == ARGV[2] and not found[3] then
  return 1
end
-- with a full memory, too: HDEL needs none, and after a first write the server refuses none
local done = not found[3] and redis.pcall('HSET', KEYS[1], 'size', ARGV[1], 'root', ARGV[2])
if type(done) ~= 'number' then
  redis.call('HDEL', KEYS[1], 'fault')
  redis.call('HSET', KEYS[1], 'size', ARGV[1], 'root', ARGV[2])
end
return 1
