-- Removes a match that is over and marks it as in the archive, if nothing was written to it since it
-- was read.
--
-- KEYS  1 snapshot  2 locator  3 ended matches  4 archived matches
--       5 its chat, which expires  6... the match's other keys, which go with it
-- ARGV  1 head of the match as it was read (32 bytes)  2 locator as it was read  3 board
--       4 bit of the match in KEYS 4  5 seconds until its chat expires
-- Returns  1 | 0 (not over, changed, or removed before; nothing written)
--
-- The locator is compared because a refusal adds a leaf and an outcome, and leaves the head alone.

if not redis.call('ZSCORE', KEYS[3], ARGV[3])
    or redis.call('GETRANGE', KEYS[1], 0, 31) ~= ARGV[1]
    or redis.call('GET', KEYS[2]) ~= ARGV[2] then
  return 0
end
-- needs no memory, and after a first write the server refuses none: so it is done with a full memory, too
redis.call('ZREM', KEYS[3], ARGV[3])
redis.call('SETBIT', KEYS[4], ARGV[4], 1)
redis.call('UNLINK', KEYS[1], KEYS[2], unpack(KEYS, 6))
redis.call('EXPIRE', KEYS[5], ARGV[5])
return 1
