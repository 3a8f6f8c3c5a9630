-- Allocates a board number to a start; a start that is repeated gets the same number.
--
-- KEYS  1 counter of boards  2 number allocated to this command id  3 list of the ids remembered
-- ARGV  1 command id (16 bytes)  2 most ids remembered  3 prefix of KEYS 2 before the id in hex
--       4 factor and 5 summand that make the number of the count
-- Returns  the number
--
-- Ids are forgotten by their count, not by time: a clock that ran ahead would forget them all.

local allocated = redis.call('GET', KEYS[2])
if allocated then
  return tonumber(allocated)
end
local board = redis.call('INCR', KEYS[1]) * tonumber(ARGV[4]) + tonumber(ARGV[5])
redis.call('SET', KEYS[2], string.format('%d', board))
redis.call('RPUSH', KEYS[3], ARGV[1])
while redis.call('LLEN', KEYS[3]) > tonumber(ARGV[2]) do
  local oldest = string.gsub(redis.call('LPOP', KEYS[3]), '.', function(byte)
    return string.format('%02x', string.byte(byte))
  end)
  redis.call('DEL', ARGV[3] .. oldest)
end
return board
