-- Notes under an account something that belongs to it, if the account is there and has room.
--
-- KEYS  1 the account's record  2 hash of what it has of a kind
-- ARGV  1 field  2 value  3 most fields there may be
-- Returns  'noted' (now or before) | 'full' | 'gone' (there is no account); both have written nothing
--
-- Both keys are in one slot: after an account is gone nothing is noted under it any more.

if redis.call('EXISTS', KEYS[1]) == 0 then
  return 'gone'
end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0
    and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then
  return 'full'
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
return 'noted'
