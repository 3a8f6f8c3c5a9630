-- Takes a letter to be sent, unless one of its id was taken before.
--
-- KEYS  1 mark that it is known  2 hash of letters  3 due
-- ARGV  1 letter  2 packed entry  3 ms at which it is due  4 seconds the mark is kept
-- Returns  1 | 0 (it was taken before; nothing written)

if not redis.call('SET', KEYS[1], '', 'NX', 'EX', ARGV[4]) then
  return 0
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
return 1
