-- Adds an entry to a hash of what belongs to an account, if the account exists and has room.
--
-- KEYS  1 the account's record  2 the hash
-- ARGV  1 field  2 value  3 most fields the hash may have  4 '1' if a value that is there stays
-- Returns  'noted' (now or before) | 'full' | 'gone' (the account does not exist); of the last two
--          each has written nothing
--
-- Both keys are in one slot: after an account is deleted nothing is noted under it.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'gone'
end
local is_there = redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1
if not is_there and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then
  return 'full'
end
if not (is_there and ARGV[4] == '1') then
  redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
end
return 'noted'
