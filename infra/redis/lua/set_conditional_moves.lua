-- Stores the conditional moves of a match, if the match and they are as they were read.
--
-- KEYS  1 snapshot  2 conditional moves
-- ARGV  1 head of the match as it was read (32 bytes)  2 conditional moves as they were read,
--       '' for none  3 conditional moves to store, '' for none
-- Returns  1 | 0 (the match has moved on, or its conditional moves have changed; nothing written)

local current = redis.call('GETRANGE', KEYS[1], 0, 32)
if string.sub(current, 1, 32) ~= ARGV[1]
    or (redis.call('GET', KEYS[2]) or '') ~= ARGV[2] then
  return 0
end
-- the snapshot's marks: see commit.lua
local marks = string.byte(current, 33) or 0
marks = marks - marks % 2
if ARGV[3] == '' then
  redis.call('DEL', KEYS[2])
else
  redis.call('SET', KEYS[2], ARGV[3])
  marks = marks + 1
end
redis.call('SETRANGE', KEYS[1], 32, string.char(marks))
return 1
