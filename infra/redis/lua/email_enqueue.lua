-- Adds an e-mail to the outbox, unless one of its id was added before.
--
-- KEYS  1 mark that its id is known  2 hash of e-mails  3 due
-- ARGV  1 id  2 packed entry  3 when it is due, ms  4 seconds the mark is kept
-- Returns  1 | 0 (the id is known; nothing written)

if not redis.call('SET', KEYS[1], '', 'NX', 'EX', ARGV[4]) then
  return 0
end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('ZADD', KEYS[3], ARGV[3], ARGV[1])
return 1
