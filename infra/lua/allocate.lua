-- Gives a board number to a challenge; the same one each time the challenge is repeated.
--
-- KEYS  1 board counter  2 number given to this command id  3 list of the ids that are remembered
-- ARGV  1 command id (16 bytes)  2 most ids remembered  3 what comes before an id's hex in KEYS 2
-- Returns  the number
--
-- Ids are forgotten by their number, not by time: a clock that ran ahead would forget them all.

local given = redis.call('GET', KEYS[2])
if given then
  return tonumber(given)
end
local board = redis.call('INCR', KEYS[1])
redis.call('SET', KEYS[2], board)
redis.call('RPUSH', KEYS[3], ARGV[1])
while redis.call('LLEN', KEYS[3]) > tonumber(ARGV[2]) do
  local oldest = string.gsub(redis.call('LPOP', KEYS[3]), '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end)
  redis.call('DEL', ARGV[3] .. oldest)
end
return board
