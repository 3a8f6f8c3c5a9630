-- Lays a move ready in place of the one before, unless it was laid before under the same id.
--
-- KEYS  1 the match's drafts
-- ARGV  1 field of the draft  2 field of the ids laid under  3 id (16 bytes)
--       4 time in ms, or '' for TIME  5 the draft less its time  6 most ids remembered
--       7 seconds the drafts are kept
-- Returns  1 | 0 (the id is known; nothing written)
--
-- A draft is the time in decimal, ':' and ARGV 5. The ids outlive their drafts, so that a command
-- repeated late can neither replace a newer draft nor bring back one that is confirmed.

local ID_BYTES = 16

local known = redis.call('HGET', KEYS[1], ARGV[2]) or ''
for i = 1, #known, ID_BYTES do
  if string.sub(known, i, i + ID_BYTES - 1) == ARGV[3] then
    return 0
  end
end
local now = ARGV[4]
if now == '' then
  local time = redis.call('TIME')
  now = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
end
redis.call('HSET', KEYS[1], ARGV[1], now .. ':' .. ARGV[5],
  ARGV[2], string.sub(ARGV[3] .. known, 1, ID_BYTES * tonumber(ARGV[6])))
redis.call('EXPIRE', KEYS[1], ARGV[7])
return 1
