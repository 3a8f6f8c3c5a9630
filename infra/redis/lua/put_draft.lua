-- Stores a draft in place of the player's last one, unless its command was known before.
--
-- KEYS  1 the match's drafts
-- ARGV  1 field of the draft  2 field of the ids of commands  3 id of this command (16 bytes)
--       4 time in ms, or '' for TIME  5 the draft without its time  6 most ids remembered
--       7 seconds the drafts are kept
-- Returns  1 | 0 (the id is known; nothing written)
--
-- A draft is the time in decimal, ':' and ARGV 5. The ids outlive their drafts, so that a command
-- repeated late can neither replace a newer draft nor bring back a confirmed one.

local ID_BYTES = 16

local known = redis.call('HGET', KEYS[1], ARGV[2]) or ''
for i = 1, #known, ID_BYTES do
  if string.sub(known, i, i + ID_BYTES - 1) == ARGV[3] then
    return 0
  end
end
redis.call('HSET', KEYS[1], ARGV[1], time_ms(ARGV[4]) .. ':' .. ARGV[5],
  ARGV[2], string.sub(ARGV[3] .. known, 1, ID_BYTES * tonumber(ARGV[6])))
redis.call('EXPIRE', KEYS[1], ARGV[7])
return 1
