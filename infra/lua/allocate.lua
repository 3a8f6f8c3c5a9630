-- Gives a board number to a challenge; the same one each time the challenge is repeated.
--
-- KEYS  1 board counter  2 number given to this command id
-- ARGV  1 seconds the number is remembered
-- Returns  the number

local given = redis.call('GET', KEYS[2])
if given then
  return tonumber(given)
end
local board = redis.call('INCR', KEYS[1])
redis.call('SET', KEYS[2], board, 'EX', ARGV[1])
return board
