-- Restores the board number of a start, and counts on from there.
--
-- KEYS  1 counter of boards  2 number allocated to this command id  3 list of the ids remembered
-- ARGV  1 command id (16 bytes)  2 the number  3 the count that the number was made of
-- Returns  1

if tonumber(redis.call('GET', KEYS[1]) or '0') < tonumber(ARGV[3]) then
  redis.call('SET', KEYS[1], ARGV[3])
end
if redis.call('EXISTS', KEYS[2]) == 0 then
  redis.call('RPUSH', KEYS[3], ARGV[1])
end
redis.call('SET', KEYS[2], ARGV[2])
return 1
