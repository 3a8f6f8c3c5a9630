-- Removes a match that is over and marks it as in the archive, if nothing was written to it since it
-- was read.
--
-- KEYS  1 snapshot  2 locator  3 ended matches  4 archived matches
--       5 its chat, which expires  6... the match's other keys, which go with it; then for each sender of a
--       command that was refused in it: those that are kept
-- ARGV  1 head of the match as it was read (32 bytes)  2 locator as it was read  3 board
--       4 bit of the match in KEYS 4  5 seconds until its chat expires
--       6 how many of KEYS are of the match  7... ids of its refused commands
-- Returns  1 | 0 (not over, changed, or removed before; nothing written)
--
-- The locator is compared because a refusal adds a leaf and an outcome, and leaves the head alone.

local MOST_IDS = 1000  -- that one HDEL names: a call has a limited number of words

if not redis.call('ZSCORE', KEYS[3], ARGV[3])
    or redis.call('GETRANGE', KEYS[1], 0, 31) ~= ARGV[1]
    or redis.call('GET', KEYS[2]) ~= ARGV[2] then
  return 0
end
-- needs no memory, and after a first write the server refuses none: so it is done with a full memory, too
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('SETBIT', KEYS[4], ARGV[4], 1)
local own = tonumber(ARGV[6])
redis.call('UNLINK', KEYS[1], KEYS[2], unpack(KEYS, 6, own))
for i = own + 1, #KEYS do
  for first = 7, #ARGV, MOST_IDS do
    redis.call('HDEL', KEYS[i], unpack(ARGV, first, math.min(first + MOST_IDS - 1, #ARGV)))
  end
end
redis.call('EXPIRE', KEYS[5], ARGV[5])
return 1
